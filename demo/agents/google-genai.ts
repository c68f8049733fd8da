import { type Content, type FunctionDeclaration, type GenerateContentParameters, GoogleGenAI, type Part } from '@google/genai';
import { withAutoCompaction } from 'context-compactor';
import { geminiContents } from 'context-compactor/google-genai';
import { type AgentOptions, type AgentRun, outputCap, readCall, runToolLoop } from '../agent.ts';
import { question, systemPrompt } from '../question.ts';
import { schemaOf, tools } from '../tools.ts';

const functionDeclarations: FunctionDeclaration[] = tools.map((tool) => ({
  name: tool.name,
  description: tool.description,
  parametersJsonSchema: schemaOf(tool),
}));

/** Answers the question with `generateContent`. Its own list of contents only grows: compaction happens on the way out. */
export async function runGoogleGenAi(options: AgentOptions): Promise<AgentRun> {
  const { baseURL, apiKey, model, contextWindow, onEvent } = options;
  const ai = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: baseURL } });
  const generate = withAutoCompaction(
    (request: GenerateContentParameters, { signal }) =>
      ai.models.generateContent({ ...request, config: { ...request.config, abortSignal: signal } }),
    { adapter: geminiContents(), contextWindow, onEvent },
  );

  const contents: Content[] = [{ role: 'user', parts: [{ text: question }] }];
  const newRequest = (): GenerateContentParameters => ({
    model,
    contents: [...contents],
    config: { systemInstruction: systemPrompt, tools: [{ functionDeclarations }], maxOutputTokens: outputCap },
  });

  let request = newRequest();
  const answer = await runToolLoop(options, {
    async ask() {
      request = newRequest();
      const reply = await generate(request);
      const content = reply.candidates?.[0]?.content;
      if (content) contents.push(content);
      const parts = content?.parts ?? [];
      const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
      const text = parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('');
      return { text, calls: calls.map(({ id = '', name = '', args }) => readCall(id, name, args)) };
    },
    answer(results) {
      const parts = results.map(
        ({ call: { id, name }, output }): Part => ({
          functionResponse: { ...(id && { id }), name, response: { [output.isError ? 'error' : 'output']: output.text } },
        }),
      );
      contents.push({ role: 'user', parts });
    },
  });
  return { answer, sendWhole: () => ai.models.generateContent(request) };
}
