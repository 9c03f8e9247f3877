import { useEffect, useState } from "preact/hooks";
import type { CallRefusal } from "@agent/client";
import { RefusalText } from "../shared/components/answer-view.tsx";
import { createRelayClock } from "../shared/relay/relay-clock.ts";
import { callForBody } from "../shared/relay/call-relay.ts";
import { browserEnvironment } from "../shared/relay/page-context.ts";
import { deleteDevice, type KeptDevice, type PairedDevice } from "./device/device-store.ts";
import { OwnerFrame, type ServingRelay } from "./owner-frame.tsx";
import { NoStorageText, PairingPage } from "./pairing-page.tsx";

/** The whole page: the pairing, the pages of a paired browser, or a notice that its device was ended. */
export function OwnerPage({
  kept,
  code,
}: {
  kept: KeptDevice | undefined;
  code: string | undefined;
}) {
  const [device, setDevice] = useState(kept?.state === "paired" ? kept : undefined);
  const [isEnded, setEnded] = useState(false);
  if (device === undefined) {
    const claimed = kept?.state === "claimed" ? kept : undefined;
    return <PairingPage claimed={claimed} code={code} onPaired={setDevice} />;
  }
  if (isEnded) return <EndedPage />;
  // A browser that was paired on this page has used the code of its link.
  const isCodeUnused = kept?.state === "paired" && code !== undefined;
  return <PairedPage device={device} isCodeUnused={isCodeUnused} onEnded={() => setEnded(true)} />;
}

/** The whole page in a browser that denies storage. */
export function NoStoragePage() {
  return (
    <main class="sign-in" data-page="pairing">
      <h1>See your agent in this browser</h1>
      <NoStorageText />
    </main>
  );
}

const RETRY_MS = 3_000;

/** Reads which relay serves the page before it shows anything, because tokens are signed for that relay. */
function PairedPage({
  device,
  isCodeUnused,
  onEnded,
}: {
  device: PairedDevice;
  isCodeUnused: boolean;
  onEnded: () => void;
}) {
  const [relay, setRelay] = useState<ServingRelay>();
  const [refusal, setRefusal] = useState<CallRefusal>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let cancel = () => {};
    const clock = createRelayClock(browserEnvironment.fetch, browserEnvironment.now);
    void callForBody("relayInfo", {}, { fetch: clock.send }).then((answer) => {
      setRefusal(answer.ok ? undefined : answer);
      if (answer.ok) {
        const { did, name } = answer.body;
        setRelay({ did, name, clockAheadMs: clock.aheadMs() });
      } else cancel = browserEnvironment.schedule(RETRY_MS, () => setTurn(turn + 1));
    });
    return () => cancel();
  }, [turn]);
  if (relay !== undefined) {
    return (
      <OwnerFrame device={device} relay={relay} isCodeUnused={isCodeUnused} onEnded={onEnded} />
    );
  }
  return (
    <main class="sign-in" data-page="loading">
      <h1>My agent</h1>
      {refusal === undefined ? <p class="loading">Loading …</p> : <RefusalText refusal={refusal} />}
    </main>
  );
}

/** The relay no longer recognises the device, so the page shows nothing about the agent. */
function EndedPage() {
  const [isKeyDeleted, setKeyDeleted] = useState(false);
  useEffect(() => void deleteDevice().then(() => setKeyDeleted(true)), []);
  return (
    <main class="sign-in" data-page="ended">
      <h1>This browser is no longer a device of the agent</h1>
      <p role="status">
        The device was ended, so this page can no longer read anything or vote.
        {isKeyDeleted && " Its key has been deleted from this browser."}
      </p>
      <p>
        To see the agent here again, run <code>agent-server pair</code> and open the new link.
      </p>
    </main>
  );
}
