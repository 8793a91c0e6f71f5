import { Button, Group, Stack } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import { call } from "../../api.ts";
import { forgetReadings } from "../../queries.ts";
import { ErrorState } from "../error-state.tsx";

/** Two buttons with which readers say whether a device is theirs. */
export function ClaimAnswer({ id, name }: { id: string; name: string }) {
	const answer = useMutation({
		mutationFn: async (isMine: boolean) => {
			await call("answerDeviceClaim", { id, is_mine: isMine });
			notifications.show({
				message: isMine
					? `${name} is yours.`
					: `${name} is not yours. Administrators see it without an owner.`,
			});
		},
		// After an error too, because somebody else may have settled the owner.
		onSettled: () => forgetReadings(),
	});
	return (
		<Stack gap="xs">
			{answer.error && (
				<ErrorState error={answer.error} title="The answer was not stored" />
			)}
			<Group gap="xs">
				{[true, false].map((isMine) => (
					<Button
						key={String(isMine)}
						size="xs"
						variant={isMine ? "filled" : "default"}
						aria-label={`${isMine ? "This is mine" : "Not mine"}: ${name}`}
						loading={answer.isPending && answer.variables === isMine}
						disabled={answer.isPending}
						onClick={() => answer.mutate(isMine)}
					>
						{isMine ? "This is mine" : "Not mine"}
					</Button>
				))}
			</Group>
		</Stack>
	);
}
