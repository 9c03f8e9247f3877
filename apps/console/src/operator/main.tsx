import { render } from "preact";
import "../style.css";
import "../shared/style/console.css";
import { watchHashRoute } from "../shared/routing/hash-route.ts";
import { reloadForCode } from "../shared/routing/reload-for-code.ts";
import { ConsolePage } from "./console-page.tsx";
import { createOperatorSession } from "./operator-session.ts";
import { takeCode } from "./take-code.ts";

const root = document.querySelector("#page");
const code = takeCode();
reloadForCode();
const session = createOperatorSession();
const refusal = code === undefined ? undefined : await session.openByCode(code);
if (session.shown.value === undefined) await session.continueSession();
if (root !== null)
  render(<ConsolePage session={session} route={watchHashRoute()} refusal={refusal} />, root);
