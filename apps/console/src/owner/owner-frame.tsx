import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useMemo } from "preact/hooks";
import { ForeignLine, ShortId } from "../shared/components/foreign-text.tsx";
import { TimeZoneNote } from "../shared/components/time-zone-note.tsx";
import { ViewTitle } from "../shared/components/view-title.tsx";
import {
  browserEnvironment,
  PageContextProvider,
  type PageContext,
} from "../shared/relay/page-context.ts";
import { useAnswer } from "../shared/relay/use-answer.ts";
import { formatHashRoute, watchHashRoute } from "../shared/routing/hash-route.ts";
import { SkipLink } from "../shared/routing/skip-link.tsx";
import { createDeviceCaller } from "./device/device-caller.ts";
import type { PairedDevice } from "./device/device-store.ts";
import { createTokenMinter } from "./device/token-minter.ts";
import { OwnerContextProvider } from "./owner-context.ts";
import { useVotableCount } from "./use-votable-approvals.ts";
import { AccountPage } from "./pages/account-page.tsx";
import { ApprovalsPage } from "./pages/approvals-page.tsx";
import { CredentialsPage } from "./pages/credentials-page.tsx";
import { DevicesPage } from "./pages/devices-page.tsx";
import { TodayPage } from "./pages/today-page.tsx";
import { VisibilityPage } from "./pages/visibility-page.tsx";
import { WorkPage } from "./pages/work-page.tsx";

/** The relay that serves the page. */
export interface ServingRelay {
  readonly did: string;
  readonly name: string;
  /** The relay refuses a token whose times are wrong by the relay's clock. */
  readonly clockAheadMs: number;
}

const PAGES: readonly (readonly [path: string, title: string, page: FunctionComponent])[] = [
  ["", "Today", TodayPage],
  ["work", "Open tasks", WorkPage],
  ["account", "Account", AccountPage],
  ["visibility", "How others see me", VisibilityPage],
  ["credentials", "Credentials", CredentialsPage],
  ["approvals", "Approvals", ApprovalsPage],
  ["devices", "Devices", DevicesPage],
];

interface FrameProps {
  readonly device: PairedDevice;
  readonly relay: ServingRelay;
  /** Whether the link had a code that this browser does not need. */
  readonly isCodeUnused: boolean;
  readonly onEnded: () => void;
}

/** The pages of a paired browser, with the menu and the agent's name above them. */
export function OwnerFrame({ device, relay, isCodeUnused, onEnded }: FrameProps) {
  const context = useMemo<PageContext>(() => {
    const { agentId, deviceId, key } = device;
    const signer = { agentId, deviceId, privateKey: key.privateKey, audience: relay.did };
    const { randomBytes } = browserEnvironment;
    const now = () => browserEnvironment.now() + relay.clockAheadMs;
    const caller = createDeviceCaller(createTokenMinter(signer, { now, randomBytes }), onEnded);
    return { relay: caller, feed: undefined, route: watchHashRoute(), mayAct: signal(true) };
  }, [device, relay]);
  const owner = { device, relayDid: relay.did, relayName: relay.name, onEnded };
  const path = context.route.value.path[0] ?? "";
  const [, title, Page] = PAGES.find(([name]) => name === path) ?? ["", "Not found", NotFoundPage];
  return (
    <PageContextProvider value={context}>
      <OwnerContextProvider value={owner}>
        <SkipLink />
        <header class="frame">
          <div class="frame-line">
            <AgentName agentId={device.agentId} />
            <span class="hint">
              at <ForeignLine text={relay.name} />
            </span>
          </div>
          <OwnerMenu path={path} />
        </header>
        <main id="content" class="console" tabIndex={-1} data-page="owner">
          <ViewTitle key={path} title={title} />
          {isCodeUnused && (
            <p class="hint" role="status">
              This browser is paired already. To pair it with another agent, end this device first.
            </p>
          )}
          <Page />
        </main>
        <TimeZoneNote />
      </OwnerContextProvider>
    </PageContextProvider>
  );
}

function AgentName({ agentId }: { agentId: string }) {
  const answer = useAnswer("getAgent", { params: { agentId } });
  const name = answer.body?.metadata["name"];
  return (
    <span class="relay-name">
      <strong>{typeof name === "string" ? <ForeignLine text={name} /> : "My agent"}</strong>{" "}
      <ShortId id={agentId} />
    </span>
  );
}

function OwnerMenu({ path }: { path: string }) {
  const waiting = useVotableCount();
  return (
    <nav class="frame-links" aria-label="My agent">
      {PAGES.map(([name, title]) => (
        <a
          key={name}
          href={formatHashRoute(name === "" ? [] : [name])}
          aria-current={name === path ? "page" : undefined}
        >
          {title}
          {name === "approvals" && waiting > 0 && <b class="count"> {waiting}</b>}
        </a>
      ))}
    </nav>
  );
}

function NotFoundPage() {
  return (
    <p>
      There is no such page. <a href="#/">Go to today's page</a>
    </p>
  );
}
