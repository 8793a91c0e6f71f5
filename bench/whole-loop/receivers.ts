import { createHmac } from "node:crypto";
import { openSmtpSink } from "../../test/support/smtp-sink.ts";
import { makeReceiver } from "../../test/webhooks/receiver.ts";
import type { Undo } from "../run.ts";

export interface Mail {
	to: string;
	text: string;
}

/** Starts a mail server and a receiver of webhooks and chats. They keep what they get. */
export async function openReceivers(undo: Undo[]) {
	const sink = await openSmtpSink();
	undo.push(sink.close);
	const receiver = makeReceiver();
	const hook = await receiver.listen();
	undo.push(receiver.close);
	const mails: Mail[] = [];
	return {
		smtpUrl: sink.url,
		hook,
		chat: hook.replace("/hook", "/chat"),
		/** Returns all mails that have arrived. */
		mails: async () => {
			while (sink.waiting() > 0) mails.push(await sink.next());
			return mails;
		},
		/** Returns the events of a type whose signature is genuine. */
		delivered: (type: string, secret: string) =>
			receiver.received.flatMap(({ headers, body }) => {
				if (!isGenuine(secret, headers, body)) return [];
				const event = JSON.parse(body);
				return event.type === type ? [event] : [];
			}),
		/** Returns the texts of the messages to the chat. */
		chats: () =>
			receiver.received.flatMap(({ headers, body }) =>
				headers["webhook-id"] ? [] : [JSON.parse(body).text as string],
			),
	};
}

/** Verifies a delivery as docs/webhooks.md describes it. */
function isGenuine(
	secret: string,
	headers: Record<string, string | string[] | undefined>,
	body: string,
): boolean {
	const key = Buffer.from(secret.slice("whsec_".length), "base64");
	const mine = createHmac("sha256", key)
		.update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`)
		.digest("base64");
	return String(headers["webhook-signature"]).split(" ").includes(`v1,${mine}`);
}
