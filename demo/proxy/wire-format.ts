import type { Message, ProviderAdapter } from 'context-compactor';
import { type ProviderName, wireValidator } from 'context-compactor/testing';
import type { Refusals } from './refusals.ts';
import { serializePrompt } from './serialize-prompt.ts';

export type JsonObject = Record<string, unknown>;

/** What is read of a valid request. */
export interface RequestContent {
  /** The tools, the system text and the content of all messages, each serialized, in the order of the prompt. */
  blocks: readonly string[];
  /** The conversation in neutral form. */
  messages: readonly Message[];
  /** Tokens that the reply may have; 0 where the request does not say. */
  outputCap: number;
}

/** What the recording proxy must know of a provider. */
export interface WireFormat extends Refusals {
  readonly name: ProviderName;
  /** The path of its requests. What a group captures is a field of the request. */
  readonly endpoint: RegExp;
  /** What the provider would refuse; empty for a valid request. */
  findProblems(request: JsonObject): readonly string[];
  read(request: JsonObject): RequestContent;
  /** A body that makes the model server answer with this very text, in the form that the given body asks for. */
  echo(body: JsonObject, text: string): object;
}

/** The system text that tells the model server to repeat what it is sent. */
export const echoMark = 'Repeat the message of the user word for word.';

/** A provider's format: what the library's own adapter and validator know of it, and how it refuses. */
export function defineWireFormat<Shape extends object, Item, Reply>(
  name: ProviderName,
  adapter: ProviderAdapter<Shape, Item, Reply>,
  endpoint: RegExp,
  refusals: Refusals,
): WireFormat {
  // The validator has passed what is read here.
  const asShape = (request: JsonObject): Shape => request as unknown as Shape;
  return {
    ...refusals,
    name,
    endpoint,
    findProblems: (request) => wireValidator(name)(request).map(({ path, message }) => `${path}: ${message}`),
    read(request) {
      const items = adapter.items(asShape(request));
      const { system, tools, outputCap = 0 } = adapter.context(asShape(request));
      return {
        blocks: serializePrompt(tools, system, items),
        messages: items.flatMap((item) => adapter.readItem(item)),
        outputCap,
      };
    },
    echo(body, text) {
      const question = adapter.writeMessage({ role: 'user', parts: [{ type: 'text', text }] });
      return adapter.withSystem(adapter.withItems(asShape(body), question), echoMark);
    },
  };
}
