import { Button, Code, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { call, type OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import type { Column } from "../../parts/data-table.tsx";
import { sentenceOf } from "../../parts/error-state.tsx";
import { showFailure } from "../../parts/show-failure.ts";
import { DateTime } from "../../parts/time.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { Deliveries, DeliveryAnswer } from "./deliveries.tsx";
import { eventInWords } from "./event-words.ts";
import type { Webhook } from "./webhooks-page.tsx";

type Delivery = OutputOf<"listWebhookDeliveries">["deliveries"][number];

/** Shows the last deliveries of a webhook with request, answer and time. */
export function WebhookDeliveries({ webhook }: { webhook: Webhook }) {
	const { organizationId } = useOrganization();
	const found = useQuery({
		...operationQuery("listWebhookDeliveries", {
			organization_id: organizationId,
			id: webhook.id,
		}),
		// Deliveries are sent in the background.
		refetchInterval: 3_000,
	});
	const resend = async ({ id }: Delivery) => {
		await call("resendWebhookDelivery", {
			organization_id: organizationId,
			id,
		}).then(
			() => notifications.show({ message: "The delivery is sent again." }),
			(error: Error) =>
				showFailure("The delivery was not sent again", sentenceOf(error)),
		);
		await forgetReadings();
	};
	const columns: Column<Delivery>[] = [
		{
			id: "event",
			header: "Event",
			width: 200,
			cell: (row) => (
				<>
					<Text size="sm" fw={500}>
						{eventInWords(row.event_type)}
					</Text>
					<Text size="xs" ff="monospace">
						{row.event_type}
					</Text>
					<Text size="xs" c="dimmed">
						<DateTime value={row.created_at} />
					</Text>
				</>
			),
		},
		{
			id: "answer",
			header: "Answer",
			width: 300,
			cell: (row) => <DeliveryAnswer of={row} />,
		},
		{
			id: "request",
			header: "Request",
			cell: ({ body }) => (
				<Code
					block
					fz="xs"
					style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}
				>
					{body}
				</Code>
			),
		},
		{
			id: "actions",
			header: "Actions",
			align: "right",
			width: 120,
			cell: (row) => (
				<Button
					size="compact-sm"
					variant="default"
					onClick={() => resend(row)}
					aria-label={`Send again: ${eventInWords(row.event_type)}`}
				>
					Send again
				</Button>
			),
		},
	];
	return <Deliveries name={webhook.url} columns={columns} found={found} />;
}
