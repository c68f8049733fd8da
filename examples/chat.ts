// A terminal agent whose conversation stays inside its window, survives `kill -9` and is resumed by name: `npx tsx examples/chat.ts --help`.
import { describeError } from './chat/describe-error.ts';
import { type ChatOptions, readOptions, usage } from './chat/options.ts';
import { run } from './chat/run.ts';

function read(): ChatOptions | undefined {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${describeError(error)}\n\n${usage}`);
    return undefined;
  }
}

const options = read();
if (options?.help) console.log(usage);
else
  try {
    process.exitCode = options ? await run(options) : 1;
  } catch (error) {
    console.error(describeError(error));
    process.exitCode = 1;
  }
