/** One request of the recorded agent, and the model's reply. */
export interface Step<Message, Reply> {
  /** What was appended to the conversation since the reply before; in the first step everything that came before the first reply. */
  messages: Message[];
  reply: Reply;
}

/**
 * A conversation as it grew. To replay it: append `messages`, send, append `reply`, and so on.
 *
 * @example
 * const history: MessageParam[] = [];
 * for (const { messages, reply } of anthropicSteps(conversation).turns) {
 *   history.push(...messages);
 *   await send({ model, max_tokens: 1024, messages: history });
 *   history.push(reply);
 * }
 */
export interface Steps<Message, Reply, Tool> {
  /** Where the provider has it beside the messages; else it is the first message. */
  system?: string;
  /** Absent where the conversation has none: an empty list is refused. */
  tools?: Tool[];
  turns: Step<Message, Reply>[];
  /** What came after the last reply, unanswered. */
  rest: Message[];
}
