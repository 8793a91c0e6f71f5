import { Box, Table, Text } from "@mantine/core";
import {
	type Device,
	PostureBadge,
} from "../../parts/devices/device-words.tsx";
import { TextLink } from "../../parts/links.tsx";
import { DateTime } from "../../parts/time.tsx";
import type { Silence, Span } from "./history.ts";

/** Shows the history of a check as a table, newest first. */
export function SpanTable({
	spans,
	silences,
	device,
	name,
}: {
	spans: readonly Span[];
	silences: readonly Silence[];
	device: Device;
	name: string;
}) {
	const silencesIn = ({ since, until }: Span) =>
		silences.filter(
			(silence) =>
				Date.parse(silence.since) >= Date.parse(since) &&
				(!until || Date.parse(silence.since) < Date.parse(until)),
		);
	const report = (id: string, label: string) => (
		<TextLink
			to="/o/$org/devices/$id"
			params={{ org: device.organization_id, id: device.id }}
			search={{ tab: "reports", report: id }}
			size="sm"
		>
			{label}
		</TextLink>
	);
	return (
		<Box
			mt="xs"
			tabIndex={0}
			role="region"
			aria-label={`Changes: ${name}`}
			style={{ overflowX: "auto" }}
		>
			<Table miw={620}>
				<Table.Thead>
					<Table.Tr>
						<Table.Th scope="col">Status</Table.Th>
						<Table.Th scope="col">From</Table.Th>
						<Table.Th scope="col">Last observed</Table.Th>
						<Table.Th scope="col">Until</Table.Th>
						<Table.Th scope="col">Reports</Table.Th>
					</Table.Tr>
				</Table.Thead>
				<Table.Tbody>
					{spans.map((span) => (
						<Table.Tr key={span.since}>
							<Table.Td>
								<PostureBadge status={span.status} isCurrent />
							</Table.Td>
							<Table.Td>
								<DateTime value={span.since} />
							</Table.Td>
							<Table.Td>
								<DateTime value={span.last_observed_at} />
							</Table.Td>
							<Table.Td>
								{silencesIn(span).map(({ since, until }) => (
									<Text key={since} size="xs" c="dimmed">
										Silent from <DateTime value={since} />
										{until && (
											<>
												{" "}
												to <DateTime value={until} />
											</>
										)}
									</Text>
								))}
								{span.until ? (
									<DateTime value={span.until} />
								) : (
									"No change since"
								)}
							</Table.Td>
							<Table.Td>
								{report(span.first_report_id, "First")}
								{span.last_report_id !== span.first_report_id && (
									<> · {report(span.last_report_id, "Last")}</>
								)}
							</Table.Td>
						</Table.Tr>
					))}
				</Table.Tbody>
			</Table>
		</Box>
	);
}
