-- The sieve of Eratosthenes as a chain of threads; see sieve.scm. An MVar is a channel of one value.
import Control.Concurrent
import Control.Monad
import System.Environment

sift :: Int -> MVar Int -> MVar Int -> IO ()
sift prime from to = forever $ do
  n <- takeMVar from
  when (n `rem` prime > 0) (putMVar to n)

main :: IO ()
main = do
  arguments <- getArgs
  let which = case arguments of { (n : _) -> read n; [] -> 50 }
  source <- newEmptyMVar
  _ <- forkIO (mapM_ (putMVar source) [2 ..])
  let loop :: Int -> MVar Int -> IO ()
      loop i from = do
        prime <- takeMVar from
        if i == which
          then print prime
          else do
            to <- newEmptyMVar
            _ <- forkIO (sift prime from to)
            loop (i + 1) to
  loop 1 source
