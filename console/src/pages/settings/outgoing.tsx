import { Button, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { type ReactNode, useState } from "react";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import { forgetReadings } from "../../queries.ts";

/** The buttons of one row. Screen readers hear the name of the row after each label. */
export function RowActions({
	of,
	actions,
}: {
	of: string;
	/** What each button does, by its label. */
	actions: Record<string, () => void>;
}) {
	return (
		<Group gap="xs" justify="flex-end">
			{Object.entries(actions).map(([label, onClick]) => (
				<Button
					key={label}
					size="compact-sm"
					variant="default"
					onClick={onClick}
					aria-label={`${label}: ${of}`}
				>
					{label}
				</Button>
			))}
		</Group>
	);
}

/** Tells whether something is sent to a webhook or a channel, and since when that fails. */
export function SendingState({
	of: { is_enabled, failing_since },
	givenUp,
}: {
	of: { is_enabled: boolean; failing_since: string | null };
	/** What to do after the service gave up. */
	givenUp?: ReactNode;
}) {
	if (givenUp) {
		return (
			<>
				<StatusBadge tone="bad" label="Disabled after failures" />
				<Text size="xs" mt={4}>
					{givenUp}
				</Text>
			</>
		);
	}
	if (!is_enabled) return <StatusBadge tone="neutral" label="Disabled" />;
	if (!failing_since) return <StatusBadge tone="good" label="Enabled" />;
	return (
		<>
			<StatusBadge tone="warning" label="Failing" />
			<Text size="xs" mt={4}>
				Since <RelativeTime value={failing_since} />
			</Text>
		</>
	);
}

/** Sends a test. `send` returns what to tell the reader. */
export function useTest<Row>(send: (row: Row) => Promise<string>) {
	const [error, setError] = useState<Error | null>(null);
	const test = async (row: Row) => {
		try {
			setError(null);
			notifications.show({ message: await send(row) });
		} catch (reason) {
			setError(reason as Error);
		}
		await forgetReadings();
	};
	return { error, test };
}
