/** Rejects an answer that consists of blanks; the browser shows the title with its refusal. */
export const NOT_BLANK = { pattern: ".*\\S.*", title: "It must not be blank." } as const;
