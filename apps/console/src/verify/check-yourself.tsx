import type { NamedKey } from "@agent/verify";
import { buildCommand } from "./verifying/build-command.ts";
import type { TrustTexts } from "./verifying/parse-trust.ts";
import type { FileVerdict } from "./verifying/verify-file.ts";

interface CheckYourselfProps {
  readonly name: string;
  readonly keys: readonly NamedKey[];
  readonly texts: TrustTexts;
  readonly fileVerdict: FileVerdict;
}

/** Shows how to do the same check without this page, for readers who do not trust it. */
export function CheckYourself({ name, keys, texts, fileVerdict }: CheckYourselfProps) {
  return (
    <section class="yourself">
      <h3>Check it without this page</h3>
      <pre tabIndex={0}>{buildCommand(name, keys, texts, fileVerdict.uses)}</pre>
      {keys.length === 0 && <p class="hint">Add --key and the key that you trust.</p>}
      <p class="hash">
        SHA-256 of the file <code>{fileVerdict.sha256}</code>
      </p>
    </section>
  );
}
