import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Returns a component whose code is loaded when it is first shown. */
export function loadLater<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  return function Later(props: Props) {
    const [Loaded, setLoaded] = useState<FunctionComponent<Props> | undefined>();
    const [hasFailed, setFailed] = useState(false);
    useEffect(() => {
      load().then(
        (component) => setLoaded(() => component),
        () => setFailed(true),
      );
    }, []);
    if (Loaded !== undefined) return <Loaded {...props} />;
    return hasFailed ? <NotLoaded /> : <p class="loading">Loading …</p>;
  };
}

/** After an upgrade, the relay no longer has the files of the page that is open. */
function NotLoaded() {
  return (
    <p class="refusal" role="alert">
      This part could not be loaded: the relay does not answer, or another version of it runs now.{" "}
      <button type="button" onClick={() => location.reload()}>
        Load the page again
      </button>
    </p>
  );
}
