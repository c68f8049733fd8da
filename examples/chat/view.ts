/** How a line of the chat's own is shown. */
export type Tone = 'plain' | 'quiet' | 'good' | 'warning' | 'error';

/** How things stand, for the line above the prompt. */
export interface ChatStatus {
  activity: 'idle' | 'working' | 'compacting';
  /** How many inputs wait. */
  waiting: number;
  /** How full the window is. */
  meter: { text: string; tone: Tone };
}

/** Where a chat shows itself: a terminal, or plain text. */
export interface ChatView {
  /** Text of the model as it comes. */
  write(text: string): void;
  /** One line of the chat's own; it begins a new line. */
  line(text: string, tone?: Tone): void;
  show(status: ChatStatus): void;
}

/** What a user does. */
export interface ChatControls {
  /** Fulfilled when it was answered. */
  submit(line: string): Promise<void>;
  /** Esc. */
  cancel(): void;
  /** Ctrl+C. */
  interrupt(): void;
  /** No more input comes. */
  end(): void;
}

/** Text of models and tools is data: it moves no cursor and sets no title. */
export function withoutControls(text: string): string {
  return text.replace(/(?![\n\t])\p{Cc}/gu, '');
}
