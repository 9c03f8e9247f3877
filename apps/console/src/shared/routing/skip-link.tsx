/** Leads keyboards past the frame of a page to its content. */
export function SkipLink() {
  return (
    <a class="skip" href="#content" onClick={focusContent}>
      Skip to the content
    </a>
  );
}

/** The fragment of the address names the view, so the link must not change it. */
function focusContent(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#content")?.focus();
}
