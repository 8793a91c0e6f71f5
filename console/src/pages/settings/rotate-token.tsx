import { Button, Group, List, Modal, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { call } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { forgetReadings } from "../../queries.ts";
import { NewToken } from "./new-token.tsx";
import type { ApiToken } from "./token-words.tsx";

/** Makes a second token beside the first, which goes on working. */
export function RotateToken({
	token,
	onClose,
}: {
	token: ApiToken;
	onClose: () => void;
}) {
	const rotating = useMutation({
		mutationFn: () => call("rotateApiToken", { id: token.id }),
		onSuccess: () => forgetReadings(),
	});
	return (
		<Modal
			opened
			onClose={onClose}
			size="lg"
			title={rotating.isSuccess ? "The second token" : `Rotate ${token.name}?`}
			closeButtonProps={{ "aria-label": "Close" }}
			closeOnClickOutside={!rotating.isSuccess}
			closeOnEscape={!rotating.isSuccess}
		>
			{rotating.isSuccess ? (
				<NewToken token={rotating.data.token} onDone={onClose} />
			) : (
				<Stack>
					{rotating.isError && (
						<ErrorState error={rotating.error} title="This was refused" />
					)}
					<Text size="sm">
						You get a second token with the same name, description and length of
						life. This one goes on working until you revoke it:
					</Text>
					<List type="ordered" size="sm" spacing={4}>
						<List.Item>Put the second token in place.</List.Item>
						<List.Item>
							Watch “last used” of this one until it no longer moves.
						</List.Item>
						<List.Item>Revoke this one.</List.Item>
					</List>
					<Group justify="flex-end">
						<Button variant="default" onClick={onClose} data-autofocus>
							Cancel
						</Button>
						<Button
							loading={rotating.isPending}
							onClick={() => rotating.mutate()}
						>
							Make the second token
						</Button>
					</Group>
				</Stack>
			)}
		</Modal>
	);
}
