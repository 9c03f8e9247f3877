/** Whether the fragment of an address is a link with a one-time code. */
export const hasCode = (hash: string): boolean => /^#(code|pair)=./.test(hash);

/**
 * Loads the page again when a link with a code is opened in a tab that shows the page already: the browser then
 * changes only the fragment, and the code would remain unused in the address.
 */
export function reloadForCode(): void {
  addEventListener("hashchange", () => {
    if (hasCode(location.hash)) location.reload();
  });
}
