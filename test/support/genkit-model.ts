import { type GenerateRequest, type GenerateResponseData, type Genkit, type ToolAction, z } from 'genkit';
import type { GenerateResponseChunkData, ModelAction } from 'genkit/model';
import { validateGenkit } from '../../src/testing/wire/genkit.ts';
import type { WireViolation } from '../../src/testing/wire/violation.ts';
import { goodSummary } from './scripted-model.ts';

export type GenkitAnswer = GenerateResponseData | ((call: GenkitCall) => GenerateResponseData | Promise<GenerateResponseData>);

/** A request, as the model got it. */
export interface GenkitCall {
  request: GenerateRequest;
  isSummary: boolean;
  isStreamed: boolean;
  signal: AbortSignal;
  violations: readonly WireViolation[];
}

export interface GenkitWorld {
  model: ModelAction;
  calls: GenkitCall[];
  summaries: () => GenkitCall[];
  turns: () => GenkitCall[];
}

export const said = (...content: object[]): GenerateResponseData => ({
  // What a test says is what a model may say.
  message: { role: 'model', content: content as { text: string }[] },
  finishReason: 'stop',
  usage: {},
});

/** A model of Genkit's own, in this process: plays a script, streams where it is asked to, and remembers what it was sent. */
export function defineScriptedModel(
  ai: Genkit,
  name: string,
  { turns = [], summaries = [], ...options }: { turns?: GenkitAnswer[]; summaries?: GenkitAnswer[]; supports?: object; use?: [] },
): GenkitWorld {
  const script = { turns: [...turns], summaries: [...summaries] };
  const calls: GenkitCall[] = [];
  const supports = { tools: true, toolChoice: true, multiturn: true, systemRole: true, media: true };
  const model = ai.defineModel({ name, apiVersion: 'v2', supports, ...options }, async (request, context) => {
    const isSummary = request.messages.some(({ content }) =>
      content[0]?.text?.startsWith('This is a context compaction request.'),
    );
    const { streamingRequested: isStreamed, abortSignal: signal } = context;
    const call = { request: structuredClone(request), isSummary, isStreamed, signal, violations: validateGenkit(request) };
    calls.push(call);
    const answer = isSummary
      ? (script.summaries.shift() ?? said({ text: goodSummary }))
      : (script.turns.shift() ?? said({ text: 'Done.' }));
    const reply = typeof answer === 'function' ? await answer(call) : answer;
    if (isStreamed)
      for (const part of reply.message?.content ?? []) context.sendChunk({ content: [part] } as GenerateResponseChunkData);
    return reply;
  });
  return {
    model,
    calls,
    summaries: () => calls.filter(({ isSummary }) => isSummary),
    turns: () => calls.filter(({ isSummary }) => !isSummary),
  };
}

/** A tool that reads the pages of a log, and remembers which. */
export function defineReader(ai: Genkit, name: string): { tool: ToolAction; pages: number[] } {
  const pages: number[] = [];
  const tool = ai.defineTool(
    { name, description: 'Reads a page of the log.', inputSchema: z.object({ page: z.number() }), outputSchema: z.string() },
    async ({ page }) => {
      pages.push(page);
      return `page ${page}: ${'nothing happened. '.repeat(500)}`;
    },
  );
  return { tool, pages };
}

/** A step of the model that reads a page; without a reference as Gemini's models do it. */
export const reads = (
  name: string,
  page: number,
  ref?: string,
): { toolRequest: { name: string; ref?: string; input: { page: number } } } => ({
  toolRequest: { name, ...(ref && { ref }), input: { page } },
});
