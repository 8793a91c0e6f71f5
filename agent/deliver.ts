import { DAY_MS } from "../src/units.ts";
import type { Outcome } from "./client.ts";
import { noteDropped, noteOutcome } from "./outcome.ts";
import { listQueue, readQueued, removeQueued, setAside } from "./queue.ts";
import { noteDelivery, type Report } from "./report.ts";
import type { Session } from "./session.ts";

/** How long the agent retries a report that something other than the service answers with 400. */
const DISPUTED_LASTS_MS = DAY_MS;

/** Returns true if a report is waiting. */
export async function hasReports(session: Session): Promise<boolean> {
	return (
		session.unsaved !== undefined ||
		(await listQueue(session.folder)).length > 0
	);
}

/** Sends the oldest report. Returns undefined if the queue is empty. */
export async function sendNext(session: Session): Promise<Outcome | undefined> {
	const { folder } = session;
	for (;;) {
		const [name] = await listQueue(folder);
		if (name === undefined) break;
		const report = await readQueued(folder, name).catch(() => undefined);
		if (!report) {
			await setAside(folder, name, "damaged");
			noteDropped(
				session,
				1,
				`the stored report ${name} is damaged and was set aside in ${folder}/damaged`,
			);
			continue;
		}
		return deliver(session, report, {
			remove: () => removeQueued(folder, name),
			setAside: () => setAside(folder, name, "refused"),
		});
	}
	if (!session.unsaved) return undefined;
	const forget = async () => {
		session.unsaved = undefined;
	};
	return deliver(session, session.unsaved, {
		remove: forget,
		setAside: forget,
	});
}

async function deliver(
	session: Session,
	report: Report,
	then: { remove: () => Promise<void>; setAside: () => Promise<void> },
): Promise<Outcome> {
	const outcome = await session.client.send("postures", {
		key: session.credentials.api_key,
		body: { results: report.results },
		signal: session.signal,
	});
	const isDisputed =
		outcome.kind === "trouble" && outcome.foreignStatus === 400;
	if (outcome.kind === "ok") {
		noteDelivery(report, session.state);
		await then.remove();
	}
	if (
		outcome.kind === "refused" ||
		(isDisputed && hasLasted(session, report))
	) {
		await then.setAside();
		const why =
			outcome.kind === "refused"
				? `the service rejected the report ${report.report_id}: ${outcome.message}`
				: `something that is not an Assay service has answered the report ${report.report_id} with 400 for 24 hours`;
		noteDropped(
			session,
			1,
			`${why}. The report was set aside in ${session.folder}/refused`,
		);
	}
	return noteOutcome(session, outcome);
}

/** Returns true if foreign answers to this report began 24 hours ago. Notes when they began. */
function hasLasted({ state }: Session, { report_id }: Report): boolean {
	if (state.disputed?.report_id !== report_id) {
		state.disputed = { report_id, since: new Date().toISOString() };
	}
	const lastedMs = Date.now() - Date.parse(state.disputed.since);
	return lastedMs >= DISPUTED_LASTS_MS;
}
