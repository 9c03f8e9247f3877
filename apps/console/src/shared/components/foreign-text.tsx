import { useState } from "preact/hooks";
import { showLine, showText, showTime } from "../format/show-text.ts";
import { browserEnvironment } from "../relay/page-context.ts";

const MAX_SHOWN = 2_000;

/** A text that another party wrote: never more than text, and cut until the reader wants all of it. */
export function ForeignText({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  const shown = showText(isWhole ? text : text.slice(0, MAX_SHOWN));
  return (
    <>
      <bdi>{shown}</bdi>
      {text.length > MAX_SHOWN && !isWhole && (
        <>
          {"… "}
          <button type="button" class="small" onClick={() => setWhole(true)}>
            Show all {text.length} characters
          </button>
        </>
      )}
    </>
  );
}

/** A text of another party on one line. */
export function ForeignLine({ text, max = 60 }: { text: string; max?: number }) {
  return <bdi title={showLine(text, 256)}>{showLine(text, max)}</bdi>;
}

/** A text of another party inside of a sentence of the page, set apart so that it cannot pass for a part of it. */
export function QuotedText({ text }: { text: string }) {
  return (
    <code class="quoted">
      <bdi>{showLine(text, MAX_SHOWN)}</bdi>
    </code>
  );
}

/** An address that another party stated: shown in full, and a link only to the web. */
export function ForeignAddress({ address }: { address: string }) {
  const shown = showText(address, MAX_SHOWN);
  return /^https?:\/\//i.test(address) && URL.canParse(address) ? (
    <a href={address} rel="noopener noreferrer" target="_blank">
      {shown}
    </a>
  ) : (
    <code>{shown}</code>
  );
}

/**
 * An id by its end, because ids of one time begin alike, with a button that copies all of it. Agents choose
 * their ids, so that two of them may end alike: where a person decides, `WholeId` or `IdCode` shows all of it.
 */
export function ShortId({ id, href }: { id: string; href?: string | undefined }) {
  const shown = shortenId(id);
  return (
    <span class="id" title={showLine(id, 256)}>
      {href === undefined ? shown : <a href={href}>{shown}</a>}
      <CopyButton id={id} />
    </span>
  );
}

const shortenId = (id: string) =>
  id.length > 12 ? `…${showLine(id.slice(-8), 8)}` : showLine(id, 12);

/** An id in full, with a button that copies it. */
export function WholeId({ id, href }: { id: string; href?: string | undefined }) {
  const shown = <IdCode id={id} />;
  return (
    <span class="id whole">
      {href === undefined ? shown : <a href={href}>{shown}</a>}
      <CopyButton id={id} />
    </span>
  );
}

/** An id in full, inside of a question. */
export function IdCode({ id }: { id: string }) {
  return <code class="whole">{showLine(id, 256)}</code>;
}

function CopyButton({ id }: { id: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () =>
    void navigator.clipboard.writeText(id).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  return (
    <button
      type="button"
      class="copy"
      onClick={copy}
      aria-label={`Copy id ending ${shortenId(id)}`}
    >
      <CopyMark isCopied={isCopied} />
    </button>
  );
}

/** Two sheets, then a tick: drawn, because many fonts have no letter for either. */
function CopyMark({ isCopied }: { isCopied: boolean }) {
  return (
    <svg class="copy-mark" viewBox="0 0 12 12" aria-hidden="true">
      <path d={isCopied ? "M1.5 6.5l3 3 6-7" : "M1.5 1.5h6v6h-6zM4.5 7.5v3h6v-6h-3"} />
    </svg>
  );
}

const two = (number: number) => String(number).padStart(2, "0");

/** A time on the reader's clock; in full, in UTC, where the pointer is. */
export function TimeText({ at }: { at: number | null }) {
  if (at === null) return <>–</>;
  const date = new Date(at);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const isToday = new Date(browserEnvironment.now()).toDateString() === date.toDateString();
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  return (
    <time dateTime={date.toISOString()} title={showTime(at)}>
      {isToday ? time : `${day} ${time}`}
    </time>
  );
}
