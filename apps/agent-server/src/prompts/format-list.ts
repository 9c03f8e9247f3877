/** Formats memories as the text of a prompt. */
export function formatList(items: readonly { readonly content: string }[]): string {
  if (items.length === 0) return "(none)";
  return items.map(({ content }) => `- ${content}`).join("\n");
}
