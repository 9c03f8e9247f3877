/** Blanks alone would pass for an answer; the title is shown by the browser with its refusal. */
export const NOT_BLANK = { pattern: ".*\\S.*", title: "It must not be blank." } as const;
