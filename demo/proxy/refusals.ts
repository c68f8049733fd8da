import type { JsonObject } from './wire-format.ts';

/** An answer in place of a reply. */
export interface Refusal {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** How a provider says no. */
export interface Refusals {
  /** For a request that is not valid. */
  refuse(message: string): Refusal;
  /** For a request of so many tokens; undefined where it fits. */
  refuseOverflow(tokens: number, outputCap: number, contextWindow: number): Refusal | undefined;
}

function json(body: JsonObject, headers: Record<string, string> = {}): Refusal {
  return { status: 400, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

function openaiError(message: string, param: string, code: string | null): Refusal {
  return json({ error: { message, type: 'invalid_request_error', param, code } });
}

export const chatRefusals: Refusals = {
  refuse: (message) => openaiError(message, 'messages', null),
  refuseOverflow(tokens, outputCap, contextWindow) {
    if (tokens + outputCap <= contextWindow) return undefined;
    return openaiError(
      `This model's maximum context length is ${contextWindow} tokens. However, you requested ${tokens + outputCap} tokens ` +
        `(${tokens} in the messages, ${outputCap} in the completion). Please reduce the length of the messages or completion.`,
      'messages',
      'context_length_exceeded',
    );
  },
};

const tooLong = {
  code: 'context_length_exceeded',
  message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
};

export const responsesRefusals: Refusals = {
  refuse: (message) => openaiError(message, 'input', null),
  refuseOverflow: (tokens, outputCap, contextWindow) =>
    tokens + outputCap > contextWindow ? openaiError(tooLong.message, 'input', tooLong.code) : undefined,
};

/** What is wrong with a request is said at once; that it is too long, in the stream. */
export const codexRefusals: Refusals = {
  refuse: (detail) => json({ detail }),
  refuseOverflow(tokens, _outputCap, contextWindow) {
    if (tokens <= contextWindow) return undefined;
    const type = 'response.failed';
    const event = { type, response: { id: 'resp_demo', status: 'failed', output: [], error: tooLong } };
    return {
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`,
    };
  },
};

/** The words of Claude, wherever it runs. */
function describeOverflow(tokens: number, outputCap: number, contextWindow: number): string | undefined {
  if (tokens > contextWindow) return `prompt is too long: ${tokens} tokens > ${contextWindow} maximum`;
  if (tokens + outputCap <= contextWindow) return undefined;
  return (
    `input length and \`max_tokens\` exceed context limit: ${tokens} + ${outputCap} > ${contextWindow}, ` +
    'decrease input length or `max_tokens` and try again'
  );
}

export const anthropicRefusals: Refusals = {
  refuse: (message) => json({ type: 'error', error: { type: 'invalid_request_error', message }, request_id: 'req_demo' }),
  refuseOverflow(...sizes) {
    const message = describeOverflow(...sizes);
    return message === undefined ? undefined : this.refuse(message);
  },
};

export const bedrockRefusals: Refusals = {
  refuse: (message) => json({ message }, { 'x-amzn-errortype': 'ValidationException' }),
  refuseOverflow(...sizes) {
    const message = describeOverflow(...sizes);
    return message === undefined ? undefined : this.refuse(`The model returned the following errors: ${message}`);
  },
};

/** Its output has a limit of its own. */
export const geminiRefusals: Refusals = {
  refuse: (message) => json({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
  refuseOverflow(tokens, _outputCap, contextWindow) {
    if (tokens <= contextWindow) return undefined;
    return this.refuse(`The input token count (${tokens}) exceeds the maximum number of tokens allowed (${contextWindow}).`);
  },
};
