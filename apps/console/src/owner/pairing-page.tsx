import { useEffect, useState } from "preact/hooks";
import type { CallRefusal } from "@agent/client";
import { RefusalText } from "../shared/components/answer-view.tsx";
import { readField } from "../shared/format/read-field.ts";
import { browserEnvironment } from "../shared/relay/page-context.ts";
import { createBrowserKey, formatFingerprint } from "./device/browser-key.ts";
import { claimPairing } from "./device/claim-pairing.ts";
import type { ClaimedDevice, PairedDevice } from "./device/device-store.ts";
import { describeBrowser, normalizeCode } from "./device/take-pairing-code.ts";

type Step =
  | { readonly name: "asking" }
  | { readonly name: "no_key" }
  | { readonly name: "claiming"; readonly claimed: ClaimedDevice }
  | { readonly name: "comparing"; readonly claimed: ClaimedDevice }
  | { readonly name: "denied" }
  | { readonly name: "no_storage" }
  | { readonly name: "refused"; readonly refusal: CallRefusal };

interface PairingProps {
  /** A claim that this browser made before the page was reloaded. */
  readonly claimed: ClaimedDevice | undefined;
  readonly code: string | undefined;
  readonly onPaired: (device: PairedDevice) => void;
}

/** Makes this browser a device of an agent, once the agent's owner has compared the key at the terminal. */
export function PairingPage({ claimed, code, onPaired }: PairingProps) {
  const [step, setStep] = useState<Step>(
    claimed === undefined || code !== undefined
      ? { name: "asking" }
      : { name: "claiming", claimed },
  );

  const [delay, setDelay] = useState<CallRefusal>();

  async function claim(device: ClaimedDevice) {
    setStep({ name: "claiming", claimed: device });
    const result = await claimPairing(device, {
      schedule: browserEnvironment.schedule,
      onClaimed() {
        setDelay(undefined);
        setStep({ name: "comparing", claimed: device });
      },
      onDelayed: setDelay,
      // Only the browser's storage can throw here.
    }).catch(() => undefined);
    setDelay(undefined);
    if (result === undefined) setStep({ name: "no_storage" });
    else if (result.ok) onPaired(result.device);
    else if (result.code === "pairing.denied") setStep({ name: "denied" });
    else setStep({ name: "refused", refusal: result as CallRefusal });
  }

  async function begin(given: { readonly code: string; readonly name: string }) {
    const key = await createBrowserKey();
    if (key === undefined) setStep({ name: "no_key" });
    else await claim({ state: "claimed", key, ...given });
  }

  useEffect(() => {
    if (step.name === "claiming") void claim(step.claimed);
  }, []);

  return (
    <main class="sign-in" data-page="pairing">
      <h1>See your agent in this browser</h1>
      {(step.name === "asking" || step.name === "refused" || step.name === "denied") && (
        <>
          {step.name === "refused" && <RefusalText refusal={step.refusal} />}
          {step.name === "denied" && (
            <p class="refusal" role="alert">
              The pairing was denied at the terminal. This browser got no access, and its key is
              deleted.
            </p>
          )}
          <PairingForm code={step.name === "asking" ? code : undefined} onSubmit={begin} />
        </>
      )}
      {step.name === "no_key" && <NoKeyText />}
      {step.name === "no_storage" && <NoStorageText />}
      {step.name === "claiming" && (
        <p role="status">Sending the public key of this browser to the relay …</p>
      )}
      {step.name === "comparing" && <CompareText claimed={step.claimed} />}
      {delay !== undefined && (
        <>
          <RefusalText refusal={delay} />
          <p class="hint">This page tries again every few seconds.</p>
        </>
      )}
    </main>
  );
}

function PairingForm({
  code,
  onSubmit,
}: {
  code: string | undefined;
  onSubmit: (given: { readonly code: string; readonly name: string }) => Promise<void>;
}) {
  const [fault, setFault] = useState<string>();
  const submit = (form: FormData) => {
    const given = normalizeCode(readField(form, "code"));
    const name = readField(form, "name");
    if (given === undefined)
      setFault("The code must be the 6 letters and digits that the terminal shows.");
    else if (name === "") setFault("The name must not be empty, because the terminal shows it.");
    else void onSubmit({ code: given, name });
  };
  return (
    <form
      class="token-form"
      onSubmit={(event) => {
        event.preventDefault();
        submit(new FormData(event.currentTarget));
      }}
    >
      <p>
        This browser creates a key that cannot leave it. The relay accepts the key once you have
        confirmed it at the terminal where your agent runs. There is no password.
      </p>
      <label>
        Code, from <code>agent-server pair</code>
        <input
          type="text"
          name="code"
          defaultValue={code ?? ""}
          autocomplete="off"
          autocapitalize="characters"
          spellcheck={false}
          maxLength={32}
          required
        />
      </label>
      <label>
        Name of this browser
        <input
          type="text"
          name="name"
          defaultValue={describeBrowser(navigator.userAgent)}
          autocomplete="off"
          maxLength={100}
          required
        />
      </label>
      {fault !== undefined && <p role="alert">{fault}</p>}
      <button type="submit" class="button">
        Pair this browser
      </button>
    </form>
  );
}

function CompareText({ claimed }: { claimed: ClaimedDevice }) {
  return (
    <section role="status">
      <p>The key of this browser:</p>
      <p class="fingerprint">
        <code>{formatFingerprint(claimed.key.publicKey)}</code>
      </p>
      <p>
        Compare it with the one at the terminal. If they are the same, answer <kbd>y</kbd> there; if
        not, answer <kbd>n</kbd>, because then another browser has used the code.
      </p>
      <p class="hint">Waiting for the answer. The code expires 5 minutes after it was created.</p>
    </section>
  );
}

/** Shows why this browser cannot create a key; the page offers no weaker way to sign in. */
function NoKeyText() {
  return (
    <section role="alert" data-code="browser.no_key">
      <p>
        {globalThis.isSecureContext
          ? "This browser cannot create Ed25519 keys that stay inside it (WebCrypto). Use Chrome 137, Firefox 129, Safari 17, or a later version."
          : "A browser creates keys only over https, or on the machine of the relay itself. Open this page at an https address of the relay."}
      </p>
      <p>There is no other way to sign in, because a password or a token could be copied.</p>
    </section>
  );
}

/** Shows why this browser cannot store a key; without storage it would need a new pairing at each visit. */
export function NoStorageText() {
  return (
    <section role="alert" data-code="browser.no_storage">
      <p>
        This browser does not let this page store data, so it cannot keep a key. The reason may be a
        private window or a setting for cookies and site data.
      </p>
      <p>Allow this site to store data, or use another window, and load the page again.</p>
    </section>
  );
}
