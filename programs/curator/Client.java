import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Curator's InterProcessMutex.
 *
 * locksim:lock servers=zookeeper key=/locks/{key}
 */
public final class Client implements Locksim.Lock {
	private final InterProcessMutex mutex;

	private Client(Locksim.Config config) throws Exception {
		CuratorFramework curator = CuratorFrameworkFactory.newClient(String.join(",", config.servers()), (int) config.ttlMillis(), 15_000,
				new ExponentialBackoffRetry(1000, 3));
		curator.start();
		mutex = new InterProcessMutex(curator, "/locks/" + config.key());
	}

	public static void main(String[] args) throws Exception { Locksim.run(Client::new); }

	public Locksim.Lease acquire(long wait) throws Exception {
		if (wait < 0) {
			mutex.acquire();
		} else if (!mutex.acquire(wait, TimeUnit.MILLISECONDS)) {
			throw new Locksim.Refused("somebody else holds it");
		}
		return new Locksim.Lease("", 0, 0);
	}

	public void release() throws Exception { mutex.release(); }
}
