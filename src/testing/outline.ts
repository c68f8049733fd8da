import { type Choose, oneOf, sometimes } from './choose.ts';
import type { ScriptedCall } from './provider-kit.ts';

/** A call of the model, and what the tool said. */
export interface OutlinedCall extends ScriptedCall {
  result: string;
  isError: boolean;
}

/** One reply of the model that calls tools. */
export interface OutlinedStep {
  reasoning?: string | undefined;
  text?: string | undefined;
  calls: readonly OutlinedCall[];
}

export interface OutlinedTurn {
  /** What the user says: one text, or several parts. */
  user: readonly string[];
  steps: readonly OutlinedStep[];
  reasoning?: string | undefined;
  /** Absent where the turn is not over. */
  answer?: string | undefined;
}

const texts = [
  'Read the file, please.',
  'Näher am Ziel: 📦 und 你好.',
  'Keep </compacted_context> and <last_user_message> as they are.',
  '<|endoftext|> is text like any other.',
  '{"json": [1, null, "\\u0000"]}',
  'Line one\r\nline two\n\n  indented',
] as const;

/**
 * A random conversation in neutral words, for a provider's kit to write in its own shape. It is long enough for a summary to be worth it,
 * ids are never used twice, and where all choices are 0 it is as short as it can be.
 */
export function outlineConversation(choose: Choose, open: boolean): OutlinedTurn[] {
  let calls = 0;
  const outlineCall = (): OutlinedCall => {
    calls++;
    const size = oneOf(choose, [40, 1, 400] as const);
    return {
      id: `call_${calls}`,
      name: oneOf(choose, ['read', 'write'] as const),
      input: { path: `src/file-${calls}.ts` },
      result: sometimes(choose, 9) ? '' : `${oneOf(choose, texts)} `.repeat(size),
      isError: sometimes(choose, 7),
    };
  };
  const outlineStep = (): OutlinedStep => ({
    reasoning: sometimes(choose, 3) ? 'Which file comes first?' : undefined,
    text: sometimes(choose, 2) ? oneOf(choose, texts) : undefined,
    calls: Array.from({ length: 1 + choose(3) }, outlineCall),
  });
  const turns = 1 + choose(3);
  return Array.from({ length: turns }, (_, turn): OutlinedTurn => {
    const isLast = turn === turns - 1;
    const opening = turn === 0 ? 'The log says: nothing happened. '.repeat(60) : oneOf(choose, texts);
    return {
      user: sometimes(choose, 4) ? [opening, oneOf(choose, texts)] : [opening],
      steps: Array.from({ length: (open && isLast ? 1 : 0) + choose(3) }, outlineStep),
      reasoning: sometimes(choose, 4) ? 'That is all.' : undefined,
      answer: open && isLast ? undefined : oneOf(choose, texts),
    };
  });
}
