// The same agent over the official Google client. GEMINI_API_KEY in the environment makes it talk to Google.
import { type Content, type GenerateContentParameters, GoogleGenAI } from '@google/genai';
import { withAutoCompaction } from 'context-compactor';
import { geminiContents } from 'context-compactor/google-genai';
import { readLogPage } from './support/offline.ts';
import { offlineGemini } from './support/offline-google-genai.ts';
import { printCompaction } from './support/print-compaction.ts';

const apiKey = process.env.GEMINI_API_KEY;
const ai = new GoogleGenAI(apiKey ? { apiKey } : { apiKey: 'offline', httpOptions: { fetch: offlineGemini } });

const generate = withAutoCompaction(
  (request: GenerateContentParameters, { signal }) =>
    ai.models.generateContent({ ...request, config: { abortSignal: signal, ...request.config } }),
  {
    adapter: geminiContents(),
    contextWindow: 12_000, // your model's window; this one is small so that you see it work
    onEvent: printCompaction,
  },
);

const functions = [{ name: 'read_log', parametersJsonSchema: { type: 'object', properties: { page: { type: 'number' } } } }];
const config = { systemInstruction: 'You find the cause of failures.', tools: [{ functionDeclarations: functions }] };
const task = 'Read all 12 pages of the log. Why did a request fail? Never restart the server.';
const contents: Content[] = [{ role: 'user', parts: [{ text: task }] }];

for (;;) {
  const reply = await generate({ model: 'gemini-2.5-flash', contents, config }); // your contents array stays yours, whole
  contents.push(...(reply.candidates ?? []).flatMap(({ content }) => content ?? []));
  if (!reply.functionCalls) {
    console.log(reply.text);
    break;
  }
  const parts = reply.functionCalls.map(({ id, name = 'read_log', args }) => ({
    functionResponse: { ...(id && { id }), name, response: { output: readLogPage(Number(args?.page)) } },
  }));
  contents.push({ role: 'user', parts });
}
