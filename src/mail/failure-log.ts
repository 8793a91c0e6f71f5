import type { Logger } from "pino";
import type { Failure, MailFailure } from "./failure.ts";
import type { MailKind } from "./queue.ts";

/** An outage of hours is not repeated more often. */
const REPEAT_MS = 600_000;

/**
 * Returns a function that logs a mail that could not be sent. An address that the server does not
 * accept concerns one mail, and each has a line. Every other kind of failure concerns the mail
 * server, and would have a line for each of hundreds of mails. It gets one every ten minutes, which
 * says how many more mails failed since the line before.
 */
export function makeFailureLog(log: Logger) {
	const told = new Map<MailFailure, { at: number; more: number }>();
	return (mail: { id: string; kind: MailKind }, { kind, text }: Failure) => {
		const last = told.get(kind);
		if (kind !== "RECIPIENT" && last && Date.now() - last.at < REPEAT_MS) {
			last.more++;
			return;
		}
		told.set(kind, { at: Date.now(), more: 0 });
		log.error(
			{
				mail: mail.id,
				about: mail.kind,
				failure: kind,
				reason: text,
				...(last?.more && { more: last.more }),
			},
			"could not send a mail; Settings → Mail and `assay mail test` say more",
		);
	};
}
