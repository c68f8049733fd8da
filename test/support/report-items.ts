import type { MediaPart } from '../../src/message.ts';
import { standInClasses } from '../../src/testing/kits/langchain/messages.ts';
import type { ReportShape } from './report-shapes.ts';

const blank = ' \n';
const contents = (...texts: readonly (string | null | readonly object[])[]): object[] =>
  texts.map((content) => ({ role: 'assistant', content }));

/** Messages of the assistant that say nothing, as hosts store them. */
const empty: Record<string, readonly object[]> = {
  'openai-chat': contents(blank, '', null, []),
  'openai-responses': contents(blank, '', [], [{ type: 'output_text', text: '\n' }]),
  'openai-codex': contents(blank, '', [], [{ type: 'output_text', text: '\n' }]),
  anthropic: contents(blank, '', [], [{ type: 'text', text: '\n' }]),
  bedrock: [...contents([], null, [{ text: '\n' }]), { role: 'assistant' }],
  genkit: [[], [{ text: blank }], [{ text: '' }]].map((content) => ({ role: 'model', content })),
  // Gemini takes a blank text, but none that is empty.
  'google-genai': [...[[], [{}], [{ text: '' }]].map((parts) => ({ role: 'model', parts })), { role: 'model' }],
  'ai-sdk': contents([], [{ type: 'text', text: '\n' }]),
  langchain: [blank, '', [], [{ type: 'text', text: '\n' }]].map((content) => new standInClasses.AIMessage({ content })),
};

/** Messages of the assistant that say nothing, in the shape. */
export function emptyAnswers<Request extends object, Item extends object, Reply>({
  name,
}: ReportShape<Request, Item, Reply>): Item[] {
  // They are of the shape's own kind, though its types need not allow them.
  return (empty[name] ?? []) as Item[];
}

type Thought = (signature: unknown, text: string, answer: string) => object;

const inBlocks: Thought = (signature, thinking, text) => ({
  role: 'assistant',
  content: [
    { type: 'thinking', thinking, signature },
    { type: 'text', text },
  ],
});

/** Thoughts that were cut. Where an unsigned one is whole for other models, only an empty signature tells. */
const unsigned: Record<string, readonly [write: Thought, ...signatures: (string | null | undefined)[]]> = {
  anthropic: [inBlocks, '', null, undefined],
  bedrock: [
    (signature, thought, text) => ({
      role: 'assistant',
      content: [{ reasoningContent: { reasoningText: { text: thought, signature } } }, { text }],
    }),
    '',
  ],
  genkit: [
    (signature, reasoning, text) => ({
      role: 'model',
      content: [{ reasoning, metadata: { thoughtSignature: signature } }, { text }],
    }),
    '',
  ],
  'ai-sdk': [
    (signature, thought, text) => ({
      role: 'assistant',
      content: [
        { type: 'reasoning', text: thought, providerOptions: { anthropic: { signature } } },
        { type: 'text', text },
      ],
    }),
    '',
  ],
  langchain: [
    (signature, thinking, text) =>
      new standInClasses.AIMessage({
        content: [
          { type: 'thinking', thinking, signature },
          { type: 'text', text },
        ],
      }),
    '',
    null,
    undefined,
  ],
};

/** Messages of the assistant with a thought that was cut and an answer; none where thoughts are not signed. */
export function unsignedThoughts<Request extends object, Item extends object, Reply>(
  { name }: ReportShape<Request, Item, Reply>,
  thought: string,
  answer: string,
): Item[] {
  const [write, ...signatures] = unsigned[name] ?? [];
  // They are of the shape's own kind, though its types need not allow them.
  return signatures.map((signature) => write?.(signature, thought, answer) as Item);
}

const dataUrl = (data: string): string => `data:image/png;base64,${data}`;

/** An image in the form of each shape. */
const images: Record<string, (data: string) => object> = {
  'openai-chat': (data) => ({ type: 'image_url', image_url: { url: dataUrl(data) } }),
  'openai-responses': (data) => ({ type: 'input_image', detail: 'auto', image_url: dataUrl(data) }),
  'openai-codex': (data) => ({ type: 'input_image', detail: 'auto', image_url: dataUrl(data) }),
  anthropic: (data) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }),
  bedrock: (data) => ({ image: { format: 'png', source: { bytes: new Uint8Array(data.length) } } }),
  genkit: (data) => ({ media: { url: dataUrl(data), contentType: 'image/png' } }),
  'google-genai': (data) => ({ inlineData: { mimeType: 'image/png', data } }),
  'ai-sdk': (data) => ({ type: 'file', mediaType: 'image/png', data }),
  langchain: (data) => ({ type: 'image_url', image_url: { url: dataUrl(data) } }),
};

/** A part for the adapter of the shape to write. */
export function imagePart(shape: string, data: string): MediaPart {
  return { type: 'media', kind: 'image', value: images[shape]?.(data) };
}

const noted = { type: 'text', text: 'Noted.' };
/** Replies with a compaction of Anthropic's own that came to nothing, as each shape hands it on: beside a text, and alone. */
const compactions: Record<string, (content: string | null | undefined) => object[]> = {
  anthropic: (content) =>
    [[{ type: 'compaction', content }, noted], [{ type: 'compaction', content }]].map((parts) => ({
      content: parts,
      stop_reason: parts.includes(noted) ? 'end_turn' : 'compaction',
    })),
  'ai-sdk': () => {
    const empty = { type: 'text', text: '', providerMetadata: { anthropic: { type: 'compaction' } } };
    return [[empty, noted], [empty]].map((content) => ({
      content,
      finishReason: {
        unified: content.includes(noted) ? 'stop' : 'other',
        raw: content.includes(noted) ? 'end_turn' : 'compaction',
      },
      usage: {},
    }));
  },
  langchain: (content) =>
    [[{ type: 'compaction', content }, noted], [{ type: 'compaction', content }]].map(
      (parts) =>
        new standInClasses.AIMessage({
          content: parts,
          response_metadata: { stop_reason: parts.includes(noted) ? 'end_turn' : 'compaction' },
        }),
    ),
};

/** Such replies in the shape; none where the provider behind it is never Anthropic. */
export function emptyCompactions<Request extends object, Item extends object, Reply>({
  name,
}: ReportShape<Request, Item, Reply>): { mixed: Reply; alone: Reply }[] {
  return [null, '', undefined].flatMap((content) => {
    const [mixed, alone] = compactions[name]?.(content) ?? [];
    // They are of the shape's own kind, though its types need not name what is in them.
    return mixed && alone ? [{ mixed: mixed as Reply, alone: alone as Reply }] : [];
  });
}
