/** Whether the shown page is the only one, so that a list without rows on it is empty. */
export function isWholeList({
  cursors,
  next,
}: {
  readonly cursors: readonly string[];
  readonly next: string | null;
}): boolean {
  return next === null && cursors.length === 0;
}

/** Moves between the pages of a list; `cursors` are those of the second page to the shown one. */
export function PageButtons({
  label,
  cursors,
  next,
  onMove,
}: {
  readonly label: string;
  readonly cursors: readonly string[];
  /** The cursor of the next page; null on the last page. */
  readonly next: string | null;
  readonly onMove: (cursors: readonly string[]) => void;
}) {
  if (isWholeList({ cursors, next })) return null;
  return (
    <nav class="pages" aria-label={label}>
      <button
        type="button"
        disabled={cursors.length === 0}
        onClick={() => onMove(cursors.slice(0, -1))}
      >
        Previous
      </button>
      <span>page {cursors.length + 1}</span>
      <button
        type="button"
        disabled={next === null}
        onClick={() => next !== null && onMove([...cursors, next])}
      >
        Next
      </button>
    </nav>
  );
}
