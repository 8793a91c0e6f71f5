/** A hidden field from which password managers learn whose password is being entered. */
export function AccountName({ email }: { email: string }) {
	return (
		<input
			type="email"
			name="username"
			autoComplete="username"
			value={email}
			readOnly
			hidden
		/>
	);
}
