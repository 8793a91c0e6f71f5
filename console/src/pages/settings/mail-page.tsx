import { Button, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
	MAIL_DAYS,
	MAX_LISTED_MAILS,
} from "../../../../src/mail/kept-mails.ts";
import { call, type OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime } from "../../parts/time.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";

type Mail = OutputOf<"listMails">["mails"][number];

const KINDS: Record<Mail["kind"], string> = {
	INVITATION: "Invitation",
	TEST: "Test",
	WEBHOOK_GIVEN_UP: "Disabled webhook",
	CHAT_GIVEN_UP: "Disabled chat",
	EVENTS: "Notification of events",
	DEVICE_ALERT: "Failed check of a device",
	DEVICE_DIGEST: "Weekly mail about devices",
	OVERDUE_WORK: "Weekly mail about overdue work",
	COMMENTS: "Comments",
	DOCUMENT: "Document to approve or sign",
	MY_DEVICES: "Link to a person's devices",
	ORGANIZATION_DELETION: "Deletion of the organization",
	EMERGENCY_SIGN_IN: "Emergency account used",
	DOMAIN_RECORD: "Record of a domain is gone",
};

/** Shows administrators what became of the mails of the organization. */
export function Page() {
	const { organizationId } = useOrganization();
	const [error, setError] = useState<Error | null>(null);
	const { data } = useSuspenseQuery({
		...operationQuery("listMails", { organization_id: organizationId }),
		// Mails are sent in the background.
		refetchInterval: 5_000,
	});
	const act = async (work: () => Promise<unknown>, message: string) => {
		try {
			setError(null);
			await work();
			notifications.show({ message });
		} catch (reason) {
			setError(reason as Error);
		}
		await forgetReadings();
	};
	const sendTest = () =>
		act(
			() => call("sendTestMail", { organization_id: organizationId }),
			"A test mail to you is queued.",
		);
	const retry = (mail: Mail) =>
		act(
			() => call("retryMail", { organization_id: organizationId, id: mail.id }),
			"The service tries to send the mail again now.",
		);
	const columns: Column<Mail>[] = [
		{
			id: "mail",
			header: "Mail",
			cell: ({ kind, recipient }) => (
				<>
					<Text size="sm" fw={500}>
						{KINDS[kind]}
					</Text>
					<Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
						{recipient}
					</Text>
				</>
			),
		},
		{ id: "state", header: "Status", cell: (row) => <State mail={row} /> },
		{
			id: "queued",
			header: "Queued",
			cell: ({ created_at }) => <DateTime value={created_at} />,
		},
		{
			id: "actions",
			header: "Actions",
			align: "right",
			width: 110,
			cell: (row) =>
				row.failure && (
					<Button
						size="compact-sm"
						variant="default"
						onClick={() => retry(row)}
						aria-label={`Retry the mail to ${row.recipient ?? "nobody"}`}
					>
						Retry
					</Button>
				),
		},
	];
	return (
		<>
			<PageHeader
				title="Mail"
				description={`The last ${MAX_LISTED_MAILS} mails of this organization. They are kept for ${MAIL_DAYS} days.`}
				actions={
					data.sends_mail && (
						<Button variant="default" onClick={sendTest}>
							Send me a test mail
						</Button>
					)
				}
			/>
			<Stack>
				{error && <ErrorState error={error} />}
				{!data.sends_mail && (
					<Text size="sm">
						This service has no mail server. Invitations and new passwords work
						with links that you pass on yourself. The operator of the service
						can set ASSAY_SMTP_URL.
					</Text>
				)}
				{data.mails.length > 0 ? (
					<DataTable label="Mails" columns={columns} rows={data.mails} />
				) : (
					<EmptyState title="No mails yet" />
				)}
			</Stack>
		</>
	);
}

function State({ mail }: { mail: Mail }) {
	const { failure } = mail;
	return (
		<>
			{mail.state === "SENT" && <StatusBadge tone="good" label="Sent" />}
			{mail.state === "NOT_NEEDED" && (
				<StatusBadge tone="neutral" label="No longer needed" />
			)}
			{mail.state === "FAILED" && <StatusBadge tone="bad" label="Failed" />}
			{mail.state === "QUEUED" && (
				<StatusBadge
					tone={failure ? "warning" : "neutral"}
					label={failure ? "Waiting to retry" : "Queued"}
				/>
			)}
			{failure && (
				<Text size="xs" mt={4} maw={480} style={{ overflowWrap: "anywhere" }}>
					{failure.text}. {failure.advice}
				</Text>
			)}
			{failure && mail.next_attempt_at && (
				<Text size="xs" c="dimmed">
					{mail.attempts === 1 ? "1 attempt" : `${mail.attempts} attempts`} so
					far. The next one is at <DateTime value={mail.next_attempt_at} />.
				</Text>
			)}
		</>
	);
}
