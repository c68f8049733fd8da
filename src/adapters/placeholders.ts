/** Some providers refuse an error result that says nothing. */
export const errorWithoutText = 'The tool failed without a message.';

/** Stands for the name of a tool where a neutral result does not tell it. */
export const unnamedTool = 'tool';
