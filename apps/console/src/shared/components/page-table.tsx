import type { ComponentChildren } from "preact";
import { useCallback, useState } from "preact/hooks";
import type { PageAnswer } from "../relay/call-relay.ts";
import { type ReloadRules, useLoaded } from "../relay/use-answer.ts";
import { AnswerView } from "./answer-view.tsx";
import { isWholeList, PageButtons } from "./page-buttons.tsx";

export interface TableColumn<Row> {
  readonly title: string;
  readonly isNumber?: boolean;
  /** Whether its words are not broken, so that the column is as wide as the longest word. */
  readonly isWord?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
}

/** One page of a list, in the form of every list of the relay. */
export interface TablePage<Row> {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

interface TableProps<Row> {
  /** Names the table for screen readers. */
  readonly caption: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rowKey: (row: Row) => string | number;
  /** Shown instead of a table without rows. */
  readonly empty: ComponentChildren;
  /** Marks rows that report a failure. */
  readonly tone?: (row: Row) => "bad" | "doubt" | undefined;
}

/** Shows rows that the page has already loaded. */
export function RowTable<Row>({
  rows,
  caption,
  columns,
  rowKey,
  empty,
  tone,
}: TableProps<Row> & { readonly rows: readonly Row[] }) {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
      <table class="rows">
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" class={isNumber === true ? "number" : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} class={tone?.(row)}>
              {columns.map(({ title, isNumber, isWord, cell }) => (
                <td key={title} data-title={title} class={toClass(isNumber, isWord)}>
                  <span>{cell(row)}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function toClass(isNumber = false, isWord = false): string | undefined {
  if (isNumber) return "number";
  return isWord ? "word" : undefined;
}

/** A list of the relay that is read page by page. `loadPage` must be the same function as long as the list is. */
export function PageTable<Row>({
  loadPage,
  rules = {},
  ...table
}: TableProps<Row> & {
  readonly loadPage: (cursor: string | undefined) => Promise<PageAnswer<TablePage<Row>>>;
  readonly rules?: ReloadRules;
}) {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const cursor = cursors.at(-1);
  const load = useCallback(() => loadPage(cursor), [loadPage, cursor]);
  return (
    <AnswerView answer={useLoaded(load, rules)}>
      {({ rows, next }) => (
        <>
          <RowTable
            {...table}
            rows={rows}
            empty={isWholeList({ cursors, next }) ? table.empty : "This page has no rows any more."}
          />
          <PageButtons
            label={`Pages of ${table.caption}`}
            cursors={cursors}
            next={next}
            onMove={setCursors}
          />
        </>
      )}
    </AnswerView>
  );
}
