/** Levels of `reasoning_effort` and `reasoning.effort`, lowest first. A model may know only some of them. */
export const openaiEfforts: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
