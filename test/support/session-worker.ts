import { jsonlStore } from '../../src/session.ts';
import { openaiChatKit } from '../../src/testing/kits/openai-chat.ts';
import { openRun } from './session-run.ts';

/** A worker that is killed in the middle of a turn: right when its third round of tools is stored. */
const [directory = ''] = process.argv.slice(2);
const run = await openRun(openaiChatKit, { store: jsonlStore({ directory }) });
await run.say('What does the log say?');
for (const round of [1, 2, 3]) {
  const calls = [{ id: `call_${round}`, name: 'read', input: { path: `${round}.ts` } }];
  await run.step({ reply: { text: `Round ${round}.`, calls }, results: ['line of a log, '.repeat(100)] });
}
process.stdout.write(JSON.stringify({ request: run.loop.request, snapshot: run.loop.snapshot() }), () =>
  process.kill(process.pid, 'SIGKILL'),
);
