import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A lock on one Redis server: SET NX PX, and a script that deletes. */
public final class Lease implements Locksim.Lock {
	private final Locksim.Config config;
	private final Socket socket;
	private final BufferedReader in;
	private String value;
	private int n;

	private Lease(Locksim.Config config) throws Exception {
		this.config = config;
		String[] address = config.servers().get(0).split(":");
		socket = new Socket(address[0], Integer.parseInt(address[1]));
		in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
	}

	public static void main(String[] args) throws Exception { Locksim.run(Lease::new); }

	private String send(String... args) throws Exception {
		StringBuilder b = new StringBuilder("*" + args.length + "\r\n");
		for (String a : args) {
			b.append("$" + a.length() + "\r\n" + a + "\r\n");
		}
		socket.getOutputStream().write(b.toString().getBytes(StandardCharsets.UTF_8));
		return in.readLine();
	}

	public Locksim.Lease acquire(long wait) throws Exception {
		value = config.client() + ++n;
		long begun = System.nanoTime();
		while (!"+OK".equals(send("SET", config.key(), value, "NX", "PX", String.valueOf(config.ttlMillis())))) {
			if (wait >= 0 && System.nanoTime() - begun >= wait * 1_000_000) {
				throw new Locksim.Refused("somebody else holds it");
			}
			Thread.sleep(100);
		}
		return new Locksim.Lease(value, 0, config.ttlMillis());
	}

	public void release() throws Exception {
		String script = "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) else return 0 end";
		if (!":1".equals(send("EVAL", script, "1", config.key(), value))) {
			throw new Locksim.Refused("it was not its own");
		}
	}
}
