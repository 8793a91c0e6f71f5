import { Button, Code, Group, Paper, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { call, type OutputOf } from "../../api.ts";
import { Columns } from "../../parts/columns.tsx";
import { Fact } from "../../parts/fact.tsx";
import { DateTime } from "../../parts/time.tsx";
import { compliantInWords, recordCount, TYPES } from "./snapshot-words.ts";

/** Shows who took the snapshot and when, and its hash, which the reader can have checked. */
export function SnapshotFacts({
	snapshot,
}: Pick<OutputOf<"getSnapshot">, "snapshot">) {
	const { compliant_devices: compliant, compliant_by_exception: excused } =
		snapshot;
	const verified = useMutation({
		mutationFn: () => call("getSnapshot", { id: snapshot.id, verify: true }),
	});
	return (
		<Paper withBorder p="md">
			<Columns as="dl" cols={{ base: 1, sm: 2, lg: 4 }} verticalSpacing="sm">
				<Fact name="Contains">
					{TYPES[snapshot.type]}, {recordCount(snapshot).toLocaleString()}{" "}
					records
				</Fact>
				<Fact name="Taken">
					<DateTime value={snapshot.taken_at} />
				</Fact>
				<Fact name="By">{snapshot.taken_by}</Fact>
				{compliant !== undefined && (
					<Fact name="Compliant devices">
						{compliantInWords(compliant, excused)}
					</Fact>
				)}
			</Columns>
			<Hash name="SHA-256" value={snapshot.sha256} />
			{snapshot.sha256_after_erasure && (
				<Hash
					name="SHA-256 since the data of a person was erased"
					value={snapshot.sha256_after_erasure}
				/>
			)}
			<Group gap="sm" mt="sm">
				<Button
					size="compact-sm"
					variant="default"
					loading={verified.isPending}
					onClick={() => verified.mutate()}
				>
					Verify
				</Button>
				<Text
					size="sm"
					role="status"
					c={isBroken(verified.data) ? "red" : "dimmed"}
				>
					{verified.isError
						? verified.error.message
						: verified.data
							? isBroken(verified.data)
								? "The records no longer have this hash. Somebody changed them in the database."
								: "The records have this hash."
							: "The SHA-256 of the downloaded file is this hash. The audit log has it too."}
				</Text>
			</Group>
		</Paper>
	);
}

const isBroken = (
	data: { snapshot: { is_intact?: boolean | undefined } } | undefined,
) => data?.snapshot.is_intact === false;

function Hash({ name, value }: { name: string; value: string }) {
	return (
		<Text size="sm" mt="sm" style={{ overflowWrap: "anywhere" }}>
			<Text span inherit c="dimmed">
				{name}
			</Text>
			<br />
			<Code>{value}</Code>
		</Text>
	);
}
