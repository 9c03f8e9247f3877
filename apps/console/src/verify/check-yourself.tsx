import { buildCommand } from "./verifying/build-command.ts";

interface CheckYourselfProps {
  readonly name: string;
  readonly keys: readonly string[];
  readonly sha256: string;
}

/** The same check without this page, for readers who do not trust it. */
export function CheckYourself({ name, keys, sha256 }: CheckYourselfProps) {
  return (
    <section class="yourself">
      <h3>Check it without this page</h3>
      <pre tabIndex={0}>{buildCommand(name, keys)}</pre>
      {keys.length === 0 && <p class="hint">Add --key and the key that you trust.</p>}
      <p class="hash">
        SHA-256 of the file <code>{sha256}</code>
      </p>
    </section>
  );
}
