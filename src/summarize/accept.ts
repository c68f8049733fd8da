import type { FinishReason } from '../adapters/adapter.ts';
import { CompactionError, type CompactionErrorCode } from '../errors.ts';
import { hasSection } from './headings.ts';

/** What a summarizer got from its model, tools apart. */
export interface SummaryReply {
  text: string;
  finish: FinishReason;
}

/**
 * The summary in a reply, or the reason why there is none. Only a reply that ended naturally, with text that is a summary, may replace
 * history. K21, K32
 *
 * @throws CompactionError
 */
export function acceptSummary(reply: SummaryReply, instruction: string): string {
  const [code, reason] = refusalOfFinish(reply.finish) ?? [];
  if (code) throw new CompactionError(code, `Expected a finished summary, but ${reason}.`);
  const text = withoutScratchpad(reply.text);
  if (scratchpadOpening.test(text))
    throw new CompactionError('not-a-summary', 'Expected a summary, got a scratchpad that was never closed.'); // B066
  if (text.trim() === '') throw new CompactionError('empty-summary', 'Expected a summary, got a blank reply.'); // K21, B056
  if (isToolMarkup(text)) throw new CompactionError('not-a-summary', 'Expected a summary, got the markup of a tool call.'); // B064
  if (isEcho(text, instruction)) throw new CompactionError('not-a-summary', 'Expected a summary, got the instruction back.');
  if (isErrorText(text)) throw new CompactionError('not-a-summary', 'Expected a summary, got the text of an error.');
  if (isRefusal(text)) throw new CompactionError('refused', 'Expected a summary, but the model declined to write one.'); // B063
  return text;
}

function refusalOfFinish(finish: FinishReason): [CompactionErrorCode, string] | undefined {
  switch (finish) {
    case 'stop':
      return undefined;
    case 'length':
      return ['truncated-summary', 'the reply was cut by its output cap']; // B060
    case 'refusal':
      return ['refused', 'the model refused'];
    case 'content-filter':
      return ['refused', 'the reply was filtered'];
    case 'overflow':
      return ['summarizer-overflow', 'the request filled the window'];
    case 'tool-calls':
    case 'pause':
      return ['tool-calls', 'the model went on using tools'];
    case 'incomplete':
      return ['incomplete-reply', 'the reply ended without saying that it was finished'];
    case 'other':
      return ['incomplete-reply', 'the reply ended in an unknown way'];
  }
}

const scratchpad = /^\s*<(analysis|scratchpad|think|thinking|reasoning)>[\s\S]*?<\/\1>/i;
const scratchpadOpening = /^\s*<(?:analysis|scratchpad|think|thinking|reasoning)>/i;
const summaryOpening = /^\s*<summary>/i;
const summaryEnd = '</summary>';

/** Leaves out what the model wrote for itself, and the tag that some wrap the summary in, closed or not. B066 */
function withoutScratchpad(text: string): string {
  let rest = text;
  for (let match = scratchpad.exec(rest); match; match = scratchpad.exec(rest)) rest = rest.slice(match[0].length);
  const opening = summaryOpening.exec(rest);
  if (!opening) return rest;
  const summary = rest.slice(opening[0].length).trim();
  return summary.toLowerCase().endsWith(summaryEnd) ? summary.slice(0, -summaryEnd.length).trimEnd() : summary;
}

/** A shorter instruction of the caller's own may well occur in its summary. */
const shortestEcho = 200;

function isEcho(text: string, instruction: string): boolean {
  return instruction.length < shortestEcho ? text.trim() === instruction.trim() : text.includes(instruction);
}

const toolMarkup =
  /^\s*(?:```(?:json|xml)?\s*)?(?:<\/?(?:tool_call|tool_use|function_calls?|invoke|antml:\w+)\b|<\|(?:tool|python|plugin)[^|]*\|>|\[TOOL_CALLS?\]|\{\s*"(?:name|tool|function|tool_calls?)"\s*:)/i;
const toolMarkupEnd = /<\/(?:tool_call|tool_use|function_calls?|invoke|antml:\w+)>$/i;

/** A reply that begins or ends as a tool call in text form and has none of the sections. */
function isToolMarkup(text: string): boolean {
  return (toolMarkup.test(text) || toolMarkupEnd.test(text.trimEnd())) && !hasSection(text);
}

const errorOpening = /^\s*(?:\{\s*"error"\s*:|(?:api |internal server |server )?error\b\s*[:(\d])/i;

/** What a gateway says in place of a model. */
function isErrorText(text: string): boolean {
  return errorOpening.test(text) && !hasSection(text);
}

const refusalOpening =
  /^\s*(?:i(?:'|’)?m (?:very |so )?sorry|i am sorry|i(?:'|’)?m (?:not able|unable)|sorry\b|i apologi[sz]e|unfortunately,? i|as an ai\b|i (?:can(?:'|’)?t|cannot|can not|won(?:'|’)?t|will not|am (?:not able|unable)))/i;

/** A polite refusal: it opens as one and has none of the sections. */
function isRefusal(text: string): boolean {
  return refusalOpening.test(text) && !hasSection(text);
}
