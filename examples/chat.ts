// A terminal agent whose conversation stays inside its window, survives `kill -9` and is resumed by name:
// `npx tsx examples/chat.ts --help`.
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

// Whoever read has gone, as `head` does: not all was told.
process.stdout.on('error', fail);

function fail(): void {
  process.exitCode = 1;
}

const options = read();
if (!options) fail();
else if (options.help) console.log(usage);
else
  try {
    if ((await run(options)) !== 0) fail();
  } catch (error) {
    console.error(describeError(error));
    fail();
  }
