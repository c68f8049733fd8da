import { CompactionError } from '../errors.ts';

/** For compactions by hand. Those of a call go where the call goes. */
export async function refuseToSend(): Promise<never> {
  throw new CompactionError('invalid-options', 'Expected `summary.send` to be given: there is no call to send the summary with.');
}
