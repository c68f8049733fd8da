import type { SizedItem } from '../history/protocol-groups.ts';
import { countLeadingSystem } from '../history/reading.ts';
import { buildReplacement } from '../prompt/replacement.ts';
import { askModel } from './ask-model.ts';
import { isOverflow, reportShorter } from './ask-shorter.ts';
import { requireCompleteHistory } from './bound.ts';
import { createProgressMemory, markSteps, type Progress, type ProgressMemory } from './chunked/progress.ts';
import { type Piece, type Step, splitSteps, takePiece } from './chunked/take-piece.ts';
import { requireRoom, tooLittleRoom } from './fit-items.ts';
import { fits, limitOf, replaceConversation, sizeOf } from './fit-window.ts';
import { addOmitted } from './omitted.ts';
import type { Summarizer, SummaryTask, WrittenSummary } from './summarizer.ts';
import { cutOptionsOf, pairAgain, sizeItem } from './task-items.ts';

/**
 * Leaves nothing out: where the conversation does not fit one summary request, it is summarized in pieces, each together with the
 * summary of all before it. Pieces are whole protocol groups where these fit, else whole steps; only a step that does not fit
 * alone is cut, which is told as `omitted`. Where everything fits it is exactly `forkSummarizer`.
 *
 * The deadline is one over all pieces. What was finished in time is remembered (for 32 conversations, in this summarizer): the
 * next attempt goes on behind it.
 *
 * @example
 * createCompactor({ adapter, contextWindow: 32_000, send, summary: { summarizer: chunkedSummarizer(), timeout: 600_000 } });
 */
export function chunkedSummarizer(): Summarizer {
  const memory = createProgressMemory();
  const summarize: Summarizer = async (task) => {
    if (!fits(task)) return summarizeInPieces(task, limitOf(task, sizeOf(task)), memory);
    try {
      return await askModel(task);
    } catch (error) {
      const { heldBefore } = task.adapter.context(task.request);
      if (task.overflowRetries === 0 || heldBefore !== undefined || !isOverflow(task, error)) throw error;
      const size = sizeOf(task);
      const half = Math.floor(Math.min(size, limitOf(task, size)) / 2);
      reportShorter(task, size, half);
      return summarizeInPieces(task, half, memory);
    }
  };
  return Object.assign(summarize, { asksWithRequest: true });
}

/**
 * Each piece with the summary so far, until nothing is left. The limit is for all of a conversation that one request may have.
 */
async function summarizeInPieces<Request, Item, Reply>(
  task: SummaryTask<Request, Item, Reply>,
  firstLimit: number,
  memory: ProgressMemory,
): Promise<WrittenSummary> {
  const plan = readSteps(task);
  const { steps, marks } = plan;
  let limit = firstLimit;
  let progress: Progress = memory.recall(marks) ?? { steps: 0, changed: [] };
  let said = false;
  for (let retries = 0; progress.steps < steps.length; ) {
    const { question, tokens, piece } = planRequest(task, plan, progress, limit);
    const next = progress.steps + piece.steps;
    const omitted = addOmitted(progress.omitted, piece.omitted);
    if (piece.items.length === 0) {
      progress = { ...progress, steps: next, omitted };
      continue;
    }
    task.onNotice({
      code: 'summarized-in-pieces',
      message: `The conversation does not fit one summary request: steps ${progress.steps + 1} to ${next} of ${steps.length} are summarized.`,
    });
    said = next === steps.length;
    try {
      const { text, changed = [] } = await askModel(said ? question : { ...question, onText: undefined, onRestart: undefined });
      progress = { steps: next, summary: text, changed: [...new Set([...progress.changed, ...changed])], omitted };
      memory.remember(marks, progress);
      retries = 0;
    } catch (error) {
      if (retries === task.overflowRetries || !isOverflow(task, error)) throw error;
      retries++;
      // Believed of all pieces to come: it is the window that is smaller.
      limit = Math.floor(Math.min(limit, tokens) / 2);
      reportShorter(task, tokens, limit);
    }
  }
  memory.forget(marks);
  const { summary, changed, omitted } = progress;
  if (summary === undefined) throw tooLittleRoom(0);
  if (!said) task.onText?.(summary); // nothing that came after it could be asked about
  return { text: summary, changed: [...changed, 'summarized in pieces'], omitted };
}

/** A conversation in steps. */
interface Plan<Item> {
  leading: readonly SizedItem<Item>[];
  steps: readonly Step<Item>[];
  marks: readonly string[];
  tokens: number;
}

function readSteps<Request, Item, Reply>(task: SummaryTask<Request, Item, Reply>): Plan<Item> {
  requireCompleteHistory(task);
  const { adapter, request, instruction } = task;
  const items = adapter.items(request).map((item) => sizeItem(task, item));
  const leading = items.slice(0, countLeadingSystem(items));
  const steps = splitSteps(items.slice(leading.length));
  const question = [adapter.name, adapter.context(request).model, instruction];
  const marks = markSteps([question, leading.map(({ messages }) => messages)], steps);
  return { leading, steps, marks, tokens: sizeOf(task) };
}

/** The next request: what stands at the beginning, the summary so far, and the next piece. */
function planRequest<Request, Item, Reply>(
  task: SummaryTask<Request, Item, Reply>,
  plan: Plan<Item>,
  progress: Progress,
  limit: number,
): { question: SummaryTask<Request, Item, Reply>; tokens: number; piece: Piece<Item> } {
  const { adapter, request, countItems } = task;
  const soFar = progress.summary === undefined ? [] : adapter.writeMessage(buildReplacement({ summary: progress.summary }));
  const before = [...plan.leading.flatMap(({ items }) => items), ...soFar];
  const room = limit - countItems(before);
  requireRoom(room);
  const piece = takePiece(plan.steps, progress.steps, room, cutOptionsOf(task));
  const items = pairAgain(task, [...before, ...piece.items]);
  const tokens = countItems(items);
  return { question: replaceConversation(task, plan.tokens, adapter.withItems(request, items), tokens), tokens, piece };
}
