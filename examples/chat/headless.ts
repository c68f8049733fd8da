import { runHeadless } from 'context-compactor/session';
import type { Conversation } from './conversation.ts';
import { describeError } from './describe-error.ts';

/** What a run without a user interface prints. */
export interface HeadlessReport {
  /** All that was said, before compactions and after. */
  text: string;
  tools: { name: string; input: unknown; status: string }[];
  /** In tokens, summaries included. */
  usage: { inputTokens: number; outputTokens: number };
  compactions: number;
  session: string;
  /** Absent where the task came to its end. */
  error?: string;
}

/**
 * Runs one task to its end and writes one report, also where it fails. K52–K54
 *
 * @param compactions tells how many there were.
 * @returns the exit code.
 */
export async function runHeadlessTask(
  task: string,
  conversation: Conversation,
  { write, compactions, signal }: { write: (report: HeadlessReport) => void; compactions: () => number; signal: AbortSignal },
): Promise<number> {
  const { session, used } = conversation;
  const { recorder, id } = session;
  const silent = { onText: () => undefined, onTool: () => undefined };
  try {
    await runHeadless(
      () => conversation.ask(task, silent, signal),
      ({ text, error }) => {
        const tools = recorder.activities.map(({ tool, input, status = 'unknown' }) => ({ name: tool, input, status }));
        const report = { text, tools, usage: { ...used }, compactions: compactions(), session: id };
        write(error === undefined ? report : { ...report, error: describeError(error) });
      },
      recorder,
    );
    return 0;
  } catch {
    return 1; // the report says why
  }
}

/** As JSON in one line. It may be read on a terminal, for which some characters that JSON leaves alone are commands. */
export function formatReport(report: HeadlessReport): string {
  return JSON.stringify(report).replace(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
