import { useState } from "preact/hooks";
import type { ParsedTrust, TrustTexts } from "./verifying/parse-trust.ts";

interface LogFieldsProps {
  readonly texts: TrustTexts;
  readonly onTexts: (texts: TrustTexts) => void;
  readonly parsed: ParsedTrust;
}

/** The transparency log that must hold every file, and the witnesses that must have cosigned it. */
export function LogFields({ texts, onTexts, parsed }: LogFieldsProps) {
  // The fields must remain open when the reader empties one of them.
  const [isOpen, setOpen] = useState(false);
  const fault = parsed.ok || parsed.field === "keys" ? undefined : parsed;
  const count = [texts.log, texts.witnesses, texts.quorum].filter((text) => text.trim() !== "");
  return (
    <details
      class={count.length > 0 ? "log-fields" : "log-fields noprint"}
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>Log and witnesses{count.length === 0 && " (none named)"}</summary>
      <p id="log-help" class="hint noprint">
        If you name the key of a log, a file must be in that log. Witnesses confirm that the log
        only grew, so that it cannot show others a different history. Get the keys from a source
        other than the file.
      </p>
      {LOG_FIELDS.map(({ name, label, placeholder }) => (
        <label key={name}>
          {label}
          <textarea
            id={name}
            rows={1}
            spellcheck={false}
            autocomplete="off"
            placeholder={placeholder}
            value={texts[name]}
            aria-describedby="log-help"
            aria-invalid={fault?.field === name}
            onInput={({ currentTarget }) => onTexts({ ...texts, [name]: currentTarget.value })}
          />
        </label>
      ))}
      {fault !== undefined && <p role="alert">{fault.message}</p>}
    </details>
  );
}

const LOG_FIELDS = [
  { name: "log", label: "Key of the log", placeholder: "agent-relay/…+1a2b3c4d+A…" },
  {
    name: "witnesses",
    label: "Keys of witnesses, separated by spaces",
    placeholder: "witness.example/w+1a2b3c4d+B…",
  },
  { name: "quorum", label: "Number of witnesses that must have signed", placeholder: "1" },
] as const;
