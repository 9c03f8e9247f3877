import { useState } from "preact/hooks";
import { showLine } from "../shared/format/show-text.ts";
import { type KeptKey, loadKeptKeys, saveKeptKeys } from "./kept-keys.ts";

interface KeyFieldProps {
  readonly text: string;
  readonly onText: (text: string) => void;
  /** The reason why the text is not a list of keys. */
  readonly fault: string | undefined;
}

/** The keys that the reader trusts. The page suggests none from a file, because files can be forged. */
export function KeyField({ text, onText, fault }: KeyFieldProps) {
  return (
    <section class="keys">
      <label for="keys">Key that you trust</label>
      <textarea
        id="keys"
        rows={1}
        spellcheck={false}
        autocomplete="off"
        placeholder="did:key:z6Mk… or 64 hex digits"
        value={text}
        aria-describedby="keys-help"
        aria-invalid={fault !== undefined}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
      />
      {fault !== undefined && <p role="alert">{fault}</p>}
      <p id="keys-help" class="hint noprint">
        The agent's key for a receipt, the relay's key for evidence. Get it from a source other than
        the file, such as the operator of the relay. Separate several keys with spaces.
      </p>
      <KeptKeys text={text} onText={onText} canKeep={fault === undefined} />
    </section>
  );
}

interface KeptKeysProps {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly canKeep: boolean;
}

function KeptKeys({ text, onText, canKeep }: KeptKeysProps) {
  const [kept, setKept] = useState(loadKeptKeys);
  const [source, setSource] = useState("");
  const change = (next: readonly KeptKey[]) => {
    setKept(next);
    saveKeptKeys(next);
  };
  const keep = () => {
    const words = text.split(/[\s,]+/).filter(Boolean);
    const rest = kept.filter(({ key }) => !words.includes(key));
    change([...rest, ...words.map((key) => ({ key, source: source.trim() }))]);
    setSource("");
  };
  const name = (key: string) => onText(`${text.trim()} ${key}`.trim());
  return (
    <details class="kept noprint">
      <summary>Keys kept in this browser ({kept.length})</summary>
      <ul>
        {kept.map(({ key, source: from }) => (
          <li key={key}>
            <span>
              <strong>{showLine(from)}</strong> <code>{key}</code>
            </span>
            <button type="button" onClick={() => name(key)} aria-label={`Use the key of ${from}`}>
              Use
            </button>
            <button
              type="button"
              onClick={() => change(kept.filter((each) => each.key !== key))}
              aria-label={`Remove the key of ${from}`}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      <label>
        Where you got the key above{" "}
        <input
          type="text"
          value={source}
          maxLength={200}
          onInput={({ currentTarget }) => setSource(currentTarget.value)}
        />
      </label>
      <button
        type="button"
        disabled={!canKeep || text.trim() === "" || source.trim() === ""}
        onClick={keep}
      >
        Keep the key in this browser
      </button>
    </details>
  );
}
