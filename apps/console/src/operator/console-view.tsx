import type { FunctionComponent } from "preact";
import { loadLater } from "../shared/components/load-later.tsx";
import { ViewTitle } from "../shared/components/view-title.tsx";
import { formatHashRoute, type HashRoute } from "../shared/routing/hash-route.ts";
import { AgentPage } from "./agents/agent-page.tsx";
import { AgentsPage } from "./agents/agents-page.tsx";
import { FreezePage } from "./pages/freeze-page.tsx";
import { MoneyPage } from "./money/money-page.tsx";
import { OverviewPage } from "./overview/overview-page.tsx";
import { TasksPage } from "./tasks/tasks-page.tsx";

/** A view; `id` is the second part of its address. */
export type ViewComponent = FunctionComponent<{ readonly id: string }>;

const loadTaskPage = async () => (await import("./task/task-page.tsx")).TaskPage;

type LaterPages = typeof import("./later-pages.ts");

/** Returns a view whose code is loaded when it is first opened. */
const loadPage = (name: keyof LaterPages) =>
  loadLater(async () => (await import("./later-pages.ts"))[name]);

/**
 * The views by the first part of their address; the key of a view of a single item ends in a slash. Views that
 * are large or seldom used are loaded when they are first opened.
 */
const VIEWS: Readonly<Record<string, ViewComponent>> = {
  "": OverviewPage,
  tasks: TasksPage,
  // It contains the verifier and the charts, so it is a file of its own.
  "tasks/": loadLater(loadTaskPage),
  agents: AgentsPage,
  "agents/": AgentPage,
  money: MoneyPage,
  "money/": MoneyPage,
  "accounts/": loadPage("StatementPage"),
  federation: loadPage("FederationPage"),
  "federation/": loadPage("PeerPage"),
  approvals: loadPage("ApprovalsPage"),
  disputes: loadPage("DisputesPage"),
  log: loadPage("LogPage"),
  audit: loadPage("AuditPage"),
  freeze: FreezePage,
  processes: loadPage("ProcessesPage"),
  sessions: loadPage("SessionsPage"),
  find: loadPage("FindPage"),
};

/** Shows the view of a route. */
export function ConsoleView({ route }: { route: HashRoute }) {
  const [name = "", id] = route.path;
  const View = VIEWS[id === undefined ? name : `${name}/`];
  if (View !== undefined) return <View key={route.path.join("/")} id={id ?? ""} />;
  return (
    <>
      <ViewTitle title="Not found" />
      <p>
        There is no page at this address. <a href={formatHashRoute([])}>Go to the overview</a>
      </p>
    </>
  );
}
