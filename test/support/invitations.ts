import { afterAll, beforeAll } from "vitest";
import {
	type Session,
	startConsole,
	type TestConsole,
} from "./console-session.ts";
import { openSmtpSink, type SmtpSink } from "./smtp-sink.ts";

/** Starts a console that mails invitations, for the tests of the file. */
export function startInviting() {
	let served: TestConsole;
	let sink: SmtpSink;
	beforeAll(async () => {
		sink = await openSmtpSink();
		served = await startConsole({
			ASSAY_SMTP_URL: sink.url,
			ASSAY_MAIL_FROM: "Assay <assay@example.com>",
		});
	});
	afterAll(async () => {
		await served.close();
		sink.close();
	});
	return {
		get served() {
			return served;
		},
		get sink() {
			return sink;
		},
		/** Invites the people of a file. */
		invite: ({ call }: Session, csv: string, options: object = {}) =>
			call("inviteMembers", {
				organization_id: served.organizationId,
				csv,
				...options,
			}),
		/** Returns how many invitations nobody has accepted or revoked. */
		countOpen: async (): Promise<number> => {
			const { rows } = await served.database.owner.query(
				"select count(*)::integer as count from invitations where accepted_at is null and revoked_at is null",
			);
			return rows[0].count;
		},
	};
}
