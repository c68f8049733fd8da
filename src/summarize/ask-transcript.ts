import type { Message } from '../message.ts';
import { buildTranscriptPrompt } from '../prompt/transcript.ts';
import { askModel } from './ask-model.ts';
import { askShorter, halve } from './ask-shorter.ts';
import { estimateError, withMargin } from './estimate-margin.ts';
import { thinkingOf } from './fit-window.ts';
import type { SummaryTask, WrittenSummary } from './summarizer.ts';
import { type Transcript, writeTranscript } from './transcript.ts';
import type { TranscriptModel } from './transcript-model.ts';

/** What is asked about a transcript. */
export type TranscriptQuestion = Pick<
  SummaryTask<unknown, unknown, unknown>,
  | 'instruction'
  | 'maxTokens'
  | 'retries'
  | 'overflowRetries'
  | 'signal'
  | 'onText'
  | 'onRestart'
  | 'onDenied'
  | 'onUsage'
  | 'onNotice'
>;

/**
 * Asks a model for a summary of these messages, which it is given as a transcript in one message of the user. What is measured is
 * the message as it is sent. V36–V39, V46
 *
 * @throws CompactionError, the provider's error, and whatever the signal was aborted with.
 */
export async function askAboutTranscript<Request, Item, Reply>(
  record: readonly Message[],
  model: TranscriptModel<Request, Item, Reply>,
  question: TranscriptQuestion,
): Promise<WrittenSummary> {
  const { adapter, request, send, effort, verbosity, count, room } = model;
  const { instruction, retries, signal, onText, onRestart, onDenied, onUsage } = question;
  // The window may be a smaller one than that which the summary was planned for.
  const maxTokens = Math.min(question.maxTokens, Math.max(1, Math.floor(room / 2)));
  const frame = count(buildTranscriptPrompt(instruction, '', { suffix: '' }));
  const beside = maxTokens + thinkingOf({ adapter, request, instruction, effort });
  const limit = Math.floor((room - beside) / (1 + estimateError)) - frame;

  async function ask({ text, marks, tokens, omitted }: Transcript): Promise<WrittenSummary> {
    const prompt = buildTranscriptPrompt(instruction, text, marks);
    const roomForOutput = room - withMargin(frame + tokens);
    const asked = { adapter, request, send, effort, verbosity, instruction, prompt, maxTokens, roomForOutput };
    return { ...(await askModel({ ...asked, retries, signal, onText, onRestart, onDenied, onUsage })), omitted };
  }

  const write = (most: number): Transcript => writeTranscript(record, most, count);
  let inputTokens = frame;
  try {
    return await askShorter(
      write(limit),
      {
        ask: (transcript) => {
          inputTokens = frame + transcript.tokens;
          return ask(transcript);
        },
        shorten: (rejected) => halve(rejected, limit, write), // of the whole record again
      },
      { ...question, adapter },
    );
  } catch (error) {
    signal.throwIfAborted();
    throw model.describe(error, inputTokens);
  }
}
