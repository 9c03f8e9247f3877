import { useState } from "preact/hooks";
import { showLine, showText, showTime } from "../format/show-text.ts";
import { browserEnvironment } from "../relay/page-context.ts";

const MAX_SHOWN = 2_000;

/** A text by another party: never rendered as markup, and shortened until the reader wants to see all of it. */
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

/** A text by another party, on one line. */
export function ForeignLine({ text, max = 60 }: { text: string; max?: number }) {
  return <bdi title={showLine(text, 256)}>{showLine(text, max)}</bdi>;
}

/** A text by another party within a sentence of the page, marked so that it cannot be mistaken for the page's own. */
export function QuotedText({ text }: { text: string }) {
  return (
    <code class="quoted">
      <bdi>{showLine(text, MAX_SHOWN)}</bdi>
    </code>
  );
}

/** An address that another party stated, in full; a link only if it is a web address. */
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
 * The end of an id, because ids that were created together begin alike, with a button that copies all of it.
 * Agents choose their ids, so two may end alike; before a decision, `WholeId` or `IdCode` shows the full id.
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

/** An id in full, within a question. */
export function IdCode({ id }: { id: string }) {
  return <code class="whole">{showLine(id, 256)}</code>;
}

function CopyButton({ id }: { id: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    // Without a secure connection the browser offers no clipboard.
    try {
      await navigator.clipboard.writeText(id);
      setCopied(true);
    } catch {
      setCopied(false);
    }
  };
  return (
    <button
      type="button"
      class="copy"
      onClick={() => void copy()}
      aria-label={`${isCopied ? "Copied" : "Copy"} id ending ${shortenId(id)}`}
    >
      <CopyMark isCopied={isCopied} />
    </button>
  );
}

/** Two sheets, or a check mark; both are drawn, because many fonts lack such characters. */
function CopyMark({ isCopied }: { isCopied: boolean }) {
  return (
    <svg class="copy-mark" viewBox="0 0 12 12" aria-hidden="true">
      <path d={isCopied ? "M1.5 6.5l3 3 6-7" : "M1.5 1.5h6v6h-6zM4.5 7.5v3h6v-6h-3"} />
    </svg>
  );
}

const two = (number: number) => String(number).padStart(2, "0");

/** A time on the reader's clock; the tooltip shows it in full, in UTC. */
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
