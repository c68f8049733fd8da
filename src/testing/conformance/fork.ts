import { randomConversation } from '../conversation.ts';
import { type Check, expectThat, expectValid, freeze, isSame, preview } from './check.ts';

const instruction = 'This is a context compaction request: summarize.';

export const forkChecks: readonly Check[] = [
  {
    name: 'a summary request is the parent with one instruction behind it',
    random: true,
    holds(kit, choose) {
      const { adapter } = kit;
      const given = kit.request(randomConversation(kit, choose, { open: choose(2) === 1 }));
      const request = freeze({ ...given, x_unheard_of: { kept: true } });
      const { request: fork, changed } = adapter.forkForSummary(request, instruction, { maxTokens: 2000 });
      const items = adapter.items(request);
      const asked = adapter.items(fork);
      // Where turns alternate, the instruction joins the last message of the user.
      const kept = asked.length > items.length ? items.length : items.length - 1;
      expectThat(
        items.slice(0, kept).every((item, index) => item === asked[index]) && asked.length === kept + 1,
        () => `Expected the items of the parent and one more, got ${asked.length} for ${items.length}.`,
      );
      const last = asked.slice(kept).flatMap((item) => adapter.readItem(item));
      const texts = last.filter(({ role }) => role === 'user').flatMap(({ parts }) => parts);
      expectThat(
        texts.at(-1)?.type === 'text' && texts.filter((part) => part.type === 'text' && part.text === instruction).length === 1,
        () => `Expected the instruction at the end, once, as text of the user, got ${preview(last)}.`,
      );
      expectThat(
        Array.isArray(changed) && changed.length === 0,
        () => `Expected an unchanged prefix, got ${changed.join(', ')}.`,
      );
      const parent = adapter.context(request);
      const context = adapter.context(fork);
      for (const key of ['model', 'system', 'tools'] as const)
        expectThat(isSame(parent[key], context[key]), `Expected \`${key}\` to stay as it was.`);
      expectThat(
        context.outputCap === undefined ? parent.outputCap === undefined : context.outputCap >= 2000,
        () => `Expected room for 2,000 tokens, got ${context.outputCap} where the parent has ${parent.outputCap}.`,
      );
      expectThat(parent.tools !== undefined, 'Expected `context` to tell the tools of the request.');
      // Parameters that the adapter has never heard of are the caller's.
      expectThat(
        Reflect.get(Object(fork), 'x_unheard_of') === request.x_unheard_of,
        'Expected a parameter that is not known to be kept as it is.',
      );
      expectValid(kit, 'The summary request', fork);
    },
  },
  {
    name: 'a request without tools is asked for a summary without tools',
    random: false,
    holds(kit) {
      const { adapter } = kit;
      const items = adapter.writeMessage({ role: 'user', parts: [{ type: 'text', text: 'Say something.' }] });
      const request = freeze(kit.request(items, { tools: false, system: '' }));
      const { request: fork } = adapter.forkForSummary(request, instruction, { maxTokens: 2000 });
      expectThat(!adapter.context(fork).tools, 'Expected no tools where the parent has none.');
      expectValid(kit, 'The summary request', fork);
    },
  },
];
