import type { Message, ToolResultPart } from '../message.ts';

/** What a tool did, and where in the text of its turn. K1 */
export interface ToolActivity {
  /** Id of the call; one is made where it is empty. */
  id: string;
  tool: string;
  input: unknown;
  /** In UTF-16 units of the turn's text. */
  textOffset: number;
  /** Absent while it runs. */
  status?: string | undefined;
  exitCode?: number | undefined;
  output?: string | ToolResultPart['content'] | undefined;
}

/** Text, and what tools did in it. */
export interface RecordedTurn {
  text: string;
  activities: readonly ToolActivity[];
}

/**
 * A recorded turn in the steps in which it happened: what was said, the calls at that place, their results, and so on. Activities whose
 * place cannot be in the text, or whose tool has no name, are left out. K13
 *
 * @param index tells ids that are made from those of other turns.
 */
export function writeTurn({ text, activities }: RecordedTurn, index = 0): Message[] {
  const messages: Message[] = [];
  let cursor = 0;
  for (const batch of batchesOf({ text, activities }, index)) {
    const { textOffset } = batch[0];
    const said = text.slice(cursor, textOffset);
    cursor = textOffset;
    messages.push({
      role: 'assistant',
      parts: [
        ...(said === '' ? [] : [{ type: 'text' as const, text: said }]),
        ...batch.map(({ id, tool, input }) => ({ type: 'toolCall' as const, id, name: tool, input })),
      ],
    });
    const results = batch.filter(({ status }) => status !== undefined).map(writeResult);
    if (results.length > 0) messages.push({ role: 'tool', parts: results });
  }
  const rest = text.slice(cursor);
  if (rest !== '') messages.push({ role: 'assistant', parts: [{ type: 'text', text: rest }] });
  return messages;
}

type Batch = [ToolActivity, ...ToolActivity[]];

/** Activities at one place were one batch. */
function batchesOf({ text, activities }: RecordedTurn, index: number): Batch[] {
  const batches: Batch[] = [];
  activities.forEach((activity, place) => {
    const { textOffset, tool } = activity;
    const last = batches.at(-1);
    if (!tool || textOffset < (last?.[0].textOffset ?? 0) || !isBoundary(text, textOffset)) return;
    const named = { ...activity, id: activity.id || `historical_${index}_${place}` };
    if (last && last[0].textOffset === textOffset) last.push(named);
    else batches.push([named]);
  });
  return batches;
}

/** True for a place in the text that parts no character. */
function isBoundary(text: string, offset: number): boolean {
  if (!Number.isInteger(offset) || offset < 0 || offset > text.length) return false;
  const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;
  const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000;
  return !(isHigh(text.charCodeAt(offset - 1)) && isLow(text.charCodeAt(offset)));
}

/** K14 */
function writeResult({ id, tool, status, exitCode, output }: ToolActivity): ToolResultPart {
  const failed = status !== 'success';
  const told = output ?? JSON.stringify({ status: failed ? 'error' : 'success', exit_code: exitCode });
  const content: ToolResultPart['content'] = typeof told === 'string' ? [{ type: 'text', text: told }] : told;
  return { type: 'toolResult', callId: id, name: tool, content, ...(failed && { isError: true }) };
}
