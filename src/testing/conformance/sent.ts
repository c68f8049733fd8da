import type { CompactionEvent } from '../../events.ts';
import type { Message, Part } from '../../message.ts';
import { toolDenial } from '../../summarize/ask-model.ts';
import type { ProviderKit } from '../provider-kit.ts';
import type { ScriptedModel } from '../scripted-model.ts';
import { expectThat, isSame, preview } from './check.ts';

export function imagesOfUser({ role, parts }: Message): Part[] {
  return role === 'user' ? parts.filter((part) => part.type === 'media' && part.kind === 'image') : [];
}

export function imagesIn<Request, Item, Reply>(kit: ProviderKit<Request, Item, Reply>, request: Request): number {
  return readAll(kit, request).flatMap(imagesOfUser).length;
}

export function expectApplied(events: readonly CompactionEvent[], times: number): void {
  const failed = events.find(({ type }) => type === 'auto_compaction_failed');
  const applied = events.filter(({ type }) => type === 'auto_compaction_applied').length;
  const reason = failed?.type === 'auto_compaction_failed' ? `${failed.error.message} ${String(failed.error.cause)}` : '';
  expectThat(
    applied === times,
    () => `Expected ${times} compaction, got ${applied}: ${events.map(({ type }) => type).join(', ')} ${reason}`,
  );
}

/** Each summary request is what the provider takes, and denials stand where they must. */
export function expectSound<Request, Item, Reply>(
  kit: ProviderKit<Request, Item, Reply>,
  { summaries }: ScriptedModel<Request, Reply>,
): void {
  for (const { request, context, violations } of summaries) {
    expectThat(violations.length === 0, () => `A summary request would be refused: ${preview(violations)} ${preview(request)}`);
    if (context.attempt === 1) continue;
    const parts = readAll(kit, request).flatMap((message) => message.parts);
    const denials = parts.filter(
      (part) => part.type === 'toolResult' && isSame(part.content, [{ type: 'text', text: toolDenial }]),
    );
    expectThat(denials.length > 0, () => `Expected attempts to call tools to be denied, got ${preview(request)}.`);
  }
}

function readAll<Request, Item, Reply>({ adapter }: ProviderKit<Request, Item, Reply>, request: Request): Message[] {
  return adapter.items(request).flatMap((item) => adapter.readItem(item));
}

export function occurrences<Request, Item, Reply>(
  kit: ProviderKit<Request, Item, Reply>,
  request: Request,
  text: string,
): number {
  const parts = readAll(kit, request).flatMap((message) => message.parts);
  return parts.filter((part) => part.type === 'text' && part.text.includes(text)).length;
}

/** The system text is where it was, as a system text. */
export function expectSystem<Request, Item, Reply>(kit: ProviderKit<Request, Item, Reply>, request: Request): void {
  const messages = readAll(kit, request).filter(({ role }) => role === 'system');
  const said = JSON.stringify([kit.adapter.context(request).system, messages]);
  expectThat(said.includes('Be exact.'), () => `Expected the system text to stay, got ${preview(request)}.`);
}

/** Shapes without parts join the texts of a replacement, so only its beginning is looked for. */
export function replacementsIn<Request, Item, Reply>(kit: ProviderKit<Request, Item, Reply>, request: Request): number {
  return readAll(kit, request).filter(({ role, parts: [first] }) => {
    return role === 'user' && first?.type === 'text' && /^<compacted_context(_\d+)?>\n/.test(first.text);
  }).length;
}
