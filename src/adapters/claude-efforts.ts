/** Levels of `output_config.effort` and `outputConfig.effort`, lowest first. A model may know only some of them. */
export const claudeEfforts: readonly string[] = ['low', 'medium', 'high', 'xhigh', 'max'];
